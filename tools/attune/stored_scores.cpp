#include "tools/attune/stored_scores.h"

#include <algorithm>
#include <optional>

#include "tools/measure/score_mask.h"

namespace attune {
namespace {

/// The dims of pairs: queries, keys, and the keys of the parts that a concat makes them of.
struct PairDims {
  Name queries, keys;
  Names parts;
};

/// Of every softmax, and of weights with masks that none makes.
std::vector<PairDims> pairs_of(const Graph& graph) {
  std::vector<PairDims> all;
  for (const int id : nodes_with_masks(graph)) {
    const Names& dims = graph.node(id).type.dims;
    const Name keys = masked_scores(graph, id).keys;
    if (dims.size() == 1) continue;
    PairDims pairs{queries_of(graph, id, keys), keys, {}};
    for (const Node& other : graph.nodes())
      if (const auto* concat = std::get_if<Concat>(&other.op); concat != nullptr && concat->into == pairs.keys)
        for (const Name along : concat->along) pairs.parts.unite(along);
    all.push_back(pairs);
  }
  return all;
}

double elements(const std::vector<std::string>& dims, const Shape& extents) {
  double count = 1;
  for (const std::string& dim : dims) count *= static_cast<double>(extents.find(dim)->second);
  return count;
}

std::optional<StoredScores> scores_in(const std::vector<std::string>& dims, const std::vector<PairDims>& all) {
  const auto has = [&](Name dim) { return std::ranges::find(dims, dim) != dims.end(); };
  for (const PairDims& pairs : all) {
    if (!has(pairs.queries)) continue;
    if (has(pairs.keys)) return StoredScores{0, std::string(pairs.queries), std::string(pairs.keys), false};
    const auto part = std::ranges::find_if(pairs.parts, has);
    if (part != pairs.parts.end()) return StoredScores{0, std::string(pairs.queries), std::string(*part), true};
  }
  return std::nullopt;
}

}  // namespace

std::vector<StoredScores> stored_scores(const KernelReport& report) {
  const std::vector<PairDims> pairs = pairs_of(report.staged);
  std::vector<StoredScores> stored;
  for (std::size_t i = 0; i < report.stages.size(); ++i) {
    std::optional<StoredScores> found;
    for (const ResultReport& result : report.stages[i].writes)
      if (!found) found = scores_in(result.dims, pairs);
    if (!found) continue;
    found->stage = i;
    stored.push_back(*found);
  }
  return stored;
}

double stored_bytes(const StageReport& stage, const Shape& extents) {
  double bytes = 0;
  for (const ResultReport& result : stage.writes) bytes += elements(result.dims, extents) * result.element_bytes;
  return bytes;
}

}  // namespace attune
