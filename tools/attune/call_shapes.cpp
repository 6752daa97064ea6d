#include "tools/attune/call_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "dsl/summed_over.h"

namespace attune {
namespace {

/// The longest tile of keys that a stage's schedule for the size has; 0 without any.
std::int64_t longest_tile(const KernelReport& report, SizeClass size) {
  std::int64_t longest = 0;
  for (const StageReport& stage : report.stages)
    if (const auto lowered = stage.schedules.find(size); lowered != stage.schedules.end())
      for (const Parameter& parameter : lowered->second.parameters)
        if (parameter.name == "key_tile" || parameter.name == "split_tile") longest = std::max(longest, parameter.value);
  return longest;
}

/// What extents are wished for: beyond a tile where calls are long.
struct Wish {
  std::set<std::string> limited, queries, keys;  ///< free dims that sizes are told by; those of the rows of stages; those that a softmax runs over
  std::int64_t beyond_keys = 0, beyond_queries = 0;

  std::int64_t of(const std::string& dim, std::int64_t otherwise) const {
    if (keys.contains(dim) && beyond_keys > 0) return beyond_keys;
    return queries.contains(dim) && beyond_queries > 0 ? beyond_queries : otherwise;
  }
};

Wish wish_for(const Graph& graph, const KernelReport& report, SizeClass size, bool is_cpu) {
  Wish wish;
  std::set<std::string> limited, queries, keys;
  for (const SizeRule::Entry& entry : report.sizes.entries)
    for (const ExtentLimit& limit : entry.limits) limited.insert(limit.dim);
  for (const KeyWalk& walk : report.walks) {
    queries.emplace(walk.queries);
    keys.emplace(std::get<Softmax>(report.staged.node(walk.softmax).op).over);
  }
  wish.limited = free_dims_of(graph, limited);
  wish.keys = free_dims_of(graph, keys);
  wish.queries = report.walks.empty() ? wish.limited : free_dims_of(graph, queries);
  constexpr std::int64_t beyond_a_tile_of_queries = 131;
  if (is_cpu && size == SizeClass::large) wish.beyond_queries = beyond_a_tile_of_queries;
  if (const std::int64_t tile = longest_tile(report, size); is_cpu && tile > 0 && (size == SizeClass::large || size == SizeClass::few))
    wish.beyond_keys = tile + tile / 4 + 1;
  return wish;
}

/// The extents to try for a dim: the one that is wished for, small ones, and those around limits.
std::vector<std::int64_t> candidates(const KernelReport& report, const std::string& dim, std::int64_t wished) {
  std::set<std::int64_t> values{wished, 1, 3, 5, 37, 131};
  for (const SizeRule::Entry& entry : report.sizes.entries)
    for (const ExtentLimit& limit : entry.limits) {
      if (limit.dim != dim) continue;
      for (const std::int64_t end : {limit.smallest, limit.largest})
        if (end > 0 && end < std::numeric_limits<std::int32_t>::max()) values.insert({end - 1, end, end + 1, end + 2});
    }
  values.erase(0);
  return {values.begin(), values.end()};
}

/// How far extents are from those that are wished for, in octaves; an even one counts as one more.
double distance(const Shape& extents, const std::map<std::string, std::int64_t>& wished) {
  double sum = 0;
  for (const auto& [dim, wish] : wished) {
    const std::int64_t extent = extents.at(dim);
    sum += std::abs(std::log2(static_cast<double>(extent) / static_cast<double>(wish))) + (extent % 2 == 0 ? 1 : 0);
  }
  return sum;
}

/// The free dims that sums run over.
std::set<std::string> summed_dims(const Graph& graph) {
  std::set<std::string> summed;
  for (const Node& node : expanded(graph).nodes())
    for (Name dim : summed_over(node.op)) summed.emplace(dim);
  return free_dims_of(graph, std::move(summed));
}

double most_elements(const Graph& graph, const Shape& extents) {
  double most = 0;
  for (const Node& node : graph.nodes()) {
    double elements = 1;
    for (Name dim : node.type.dims) elements *= static_cast<double>(extents.find(dim)->second);
    most = std::max(most, elements);
  }
  return most;
}

/// `given` with free dims made short, the outermost first, until no value has more than 2^20 elements, where calls keep their size: at first those that
/// nothing sums over, to 1, then those of sums, to 2, at last those of queries, to their defaults.
Shape made_smaller(const Graph& graph, Shape given, const Wish& wish, const Shape& defaults, const std::function<bool(const std::string&)>& is_kept,
                   const std::function<bool(const Shape&)>& keeps_size) {
  constexpr double enough = 0x1p20;
  const std::set<std::string> summed = summed_dims(graph);
  const auto round_of = [&](const std::string& dim) { return wish.queries.contains(dim) ? 2 : summed.contains(dim) ? 1 : 0; };
  for (const int round : {0, 1, 2})
    for (const DimInfo& info : graph.dim_infos()) {
      const Shape before = fill_shape(graph, given).extents;
      if (most_elements(graph, before) <= enough) return given;
      const std::string dim(info.name());
      if (info.derivation.formula != Formula::free || is_kept(dim) || round_of(dim) != round) continue;
      Shape smaller = given;
      smaller[dim] = std::min(before.at(dim), round == 2 ? defaults.at(dim) : round + 1);
      const FilledShape filled = fill_shape(graph, smaller);
      const bool is_smaller = filled.problem.empty() && most_elements(graph, filled.extents) < most_elements(graph, before);
      if (is_smaller && keeps_size(filled.extents)) given = std::move(smaller);
    }
  return given;
}

/// The shape nearest to the wish that takes the schedules for the size; empty if none of those tried does.
Shape shape_for(const Prepared& prepared, const KernelReport& report, SizeClass size, const Wish& wish) {
  const Graph& graph = prepared.graph.graph;
  const Shape& known = prepared.staging.specialisation.extents;
  const Shape defaults = fill_shape(graph, known).extents;
  std::set<std::string> varied = wish.limited;
  varied.insert(wish.keys.begin(), wish.keys.end());
  varied.insert(wish.queries.begin(), wish.queries.end());
  std::map<std::string, std::int64_t> wished;
  std::vector<Shape> tried{known};
  for (const std::string& dim : varied) {
    if (known.contains(dim)) continue;
    wished[dim] = wish.of(dim, defaults.at(dim));
    std::vector<Shape> longer;
    for (const Shape& shape : tried)
      for (const std::int64_t extent : candidates(report, dim, wished[dim])) {
        longer.push_back(shape);
        longer.back()[dim] = extent;
      }
    constexpr std::size_t most = 20000;
    if (longer.size() > most) break;
    tried = std::move(longer);
  }
  Shape best;
  double least = std::numeric_limits<double>::infinity();
  for (const Shape& shape : tried) {
    const FilledShape filled = fill_shape(graph, shape);
    if (!filled.problem.empty() || report.sizes.size_of(filled.extents) != size) continue;
    const double far = distance(filled.extents, wished);
    if (far < least) least = far, best = shape;
  }
  if (!std::isfinite(least)) return {};
  const auto is_kept = [&](const std::string& dim) { return wish.keys.contains(dim) || known.contains(dim); };
  const auto keeps_size = [&](const Shape& extents) { return report.sizes.size_of(extents) == size; };
  best = made_smaller(graph, std::move(best), wish, defaults, is_kept, keeps_size);
  return fill_shape(graph, best).extents;
}

}  // namespace

CallShape call_shape(const KernelReport& report, const Shape& extents) {
  CallShape shape{report.sizes.size_of(extents), extents, {}};
  std::vector<std::string> names;
  for (const StageReport& stage : report.stages)
    if (const auto lowered = stage.schedules.find(shape.size); lowered != stage.schedules.end())
      if (std::ranges::find(names, lowered->second.schedule) == names.end()) names.push_back(lowered->second.schedule);
  shape.schedules = fmt::format("{}", fmt::join(names, ", "));
  return shape;
}

std::vector<CallShape> shapes_of_sizes(const Prepared& prepared, const KernelReport& report, const TargetInfo& target) {
  std::vector<CallShape> shapes;
  for (const SizeRule::Entry& entry : report.sizes.entries) {
    const Wish wish = wish_for(prepared.graph.graph, report, entry.size, target.device == Device::cpu);
    if (const Shape extents = shape_for(prepared, report, entry.size, wish); !extents.empty()) shapes.push_back(call_shape(report, extents));
  }
  return shapes;
}

}  // namespace attune
