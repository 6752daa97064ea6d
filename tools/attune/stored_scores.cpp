#include "tools/attune/stored_scores.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>

#include "codegen/plan/attention_match.h"
#include "tools/measure/score_mask.h"

namespace attune {
namespace {

/// The dims of pairs: queries, keys, and the keys of the parts that a concat makes them of.
struct PairDims {
  Name queries, keys;
  Names parts;
};

/// The operation is more than a factor: of products and factors alone the graph says in which order they are multiplied.
bool is_more_than_factor(const AnyOp& op) {
  return !std::holds_alternative<Multiply>(op) && !std::holds_alternative<Divide>(op) && !std::holds_alternative<Negate>(op) &&
         !std::holds_alternative<Rename>(op) && !std::holds_alternative<Matmul>(op);
}

/// The value is made of a product of queries and keys with a batch that is `like` dims', by way of sums and maxima of rows, too; and `has_more` than factors.
bool is_made_of_scores(const Graph& graph, int value, const Names& like, Name keys, bool has_more) {
  bool has_scores = false;
  look_below(graph, value, [&](int next) {
    const Node& node = graph.node(next);
    has_more |= node.type.dims.has(keys) && !node.operands().empty() && is_more_than_factor(node.op);
    const bool is_product = std::holds_alternative<Matmul>(node.op);
    if (!is_product) return true;
    // what attention gives is a row, and no score of what it is multiplied with
    const auto is_softmax = [&](int operand) { return std::holds_alternative<Softmax>(graph.node(operand).op); };
    if (std::ranges::any_of(node.inputs, is_softmax)) return false;
    const auto dims_of = [&](int operand) { return graph.node(operand).type.dims; };
    has_scores |= node.type.dims.has(keys) && share_batch(like, node.type.dims, dims_of(node.inputs[0]), dims_of(node.inputs[1]), keys);
    return false;
  });
  return has_scores && has_more;
}

/// Softmaxes, weights with masks, and what else a matmul sums over that is made of scores, as a softmax that is written out; scores whose greatest is
/// wanted, or the logarithm of what they sum to.
std::set<int> weights_in(const Graph& graph) {
  const std::vector<int> masked = nodes_with_masks(graph);
  std::set<int> all(masked.begin(), masked.end());
  for (int id = 0; id < static_cast<int>(graph.nodes().size()); ++id) {
    const Node& node = graph.node(id);
    const std::span<const int> in = node.operands();
    const std::optional<Name> reduced = reduced_dim(node);
    if (reduced && !std::holds_alternative<ReduceSum>(node.op) && is_made_of_scores(graph, in[0], node.type.dims, *reduced, true)) all.insert(in[0]);
    const auto* matmul = std::get_if<Matmul>(&node.op);
    if (matmul == nullptr || matmul->over.size() != 1) continue;
    for (std::size_t side = 0; side < 2; ++side)
      if (is_made_of_scores(graph, in[side], graph.node(in[1 - side]).type.dims, matmul->over[0], false)) all.insert(in[side]);
  }
  return all;
}

/// The dims of pairs of all weights.
std::vector<PairDims> pairs_of(const Graph& graph) {
  std::vector<PairDims> all;
  for (const int id : weights_in(graph)) {
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
