#include "tools/attune/call_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "dsl/summed_over.h"
#include "tools/measure/score_mask.h"

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

void for_each_limit(const KernelReport& report, const std::function<void(const ExtentLimit&)>& visit) {
  for (const StageReport& stage : report.stages)
    for (const SizeRule::Entry& entry : stage.sizes.entries) std::ranges::for_each(entry.limits, visit);
}

std::set<StageCode> codes_of(const KernelReport& report, const Shape& extents) {
  const Shape all = extents_in(report, extents);
  std::set<StageCode> codes;
  for (const StageReport& stage : report.stages) codes.emplace(stage.code, stage.sizes.size_of(all));
  return codes;
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
  for_each_limit(report, [&](const ExtentLimit& limit) { limited.insert(limit.dim); });
  for (const StageReport& stage : report.stages) {
    if (!stage.walk) continue;
    queries.emplace(stage.walk->queries);
    keys.emplace(masked_scores(report.staged, stage.walk->node).keys);
  }
  wish.limited = free_dims_of(graph, limited);
  wish.keys = free_dims_of(graph, keys);
  wish.queries = queries.empty() ? wish.limited : free_dims_of(graph, queries);
  constexpr std::int64_t beyond_a_tile_of_queries = 131;
  if (is_cpu && size == SizeClass::large) wish.beyond_queries = beyond_a_tile_of_queries;
  if (const std::int64_t tile = longest_tile(report, size); is_cpu && tile > 0 && (size == SizeClass::large || size == SizeClass::few))
    wish.beyond_keys = tile + tile / 4 + 1;
  return wish;
}

/// The extents to try for a dim: the one that is wished for, small ones, and those around limits.
std::vector<std::int64_t> candidates(const KernelReport& report, const std::string& dim, std::int64_t wished) {
  std::set<std::int64_t> values{wished, 1, 3, 5, 37, 131};
  for_each_limit(report, [&](const ExtentLimit& limit) {
    if (limit.dim != dim) return;
    for (const std::int64_t end : {limit.smallest, limit.largest})
      if (end > 0 && end < std::numeric_limits<std::int32_t>::max()) values.insert({end - 1, end, end + 1, end + 2});
  });
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

/// `given` with free dims made short, the outermost first, until no value has more than 2^20 elements, where calls keep their codes: at first those
/// that nothing sums over, to 1, then those of sums, to 2, at last those of queries, to their defaults.
Shape made_smaller(const Graph& graph, Shape given, const Wish& wish, const Shape& defaults, const std::function<bool(const std::string&)>& is_kept,
                   const std::function<bool(const Shape&)>& keeps_codes) {
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
      if (is_smaller && keeps_codes(filled.extents)) given = std::move(smaller);
    }
  return given;
}

/// The same where that was not enough for the interpreter, whatever codes the calls take then: tokens in three roles, say, of which none is short.
Shape made_small(const Graph& graph, Shape given, const Shape& defaults, const Shape& known) {
  constexpr double too_many = 0x1p26;
  for (const DimInfo& info : graph.dim_infos()) {
    const std::string dim(info.name());
    for (const std::int64_t extent : {std::int64_t{131}, std::int64_t{37}, defaults.at(dim)}) {
      const Shape before = fill_shape(graph, given).extents;
      if (most_elements(graph, before) <= too_many || info.derivation.formula != Formula::free || known.contains(dim)) break;
      Shape smaller = given;
      smaller[dim] = std::min(before.at(dim), extent);
      if (fill_shape(graph, smaller).problem.empty()) given = std::move(smaller);
    }
  }
  return given;
}

/// Shapes that have the extents to try of each dim that tells codes apart, and what is wished for those dims. Dims of which there would be too many
/// shapes are left out.
struct TriedShapes {
  std::vector<Shape> shapes;
  std::map<std::string, std::int64_t> wished;
};
TriedShapes shapes_to_try(const KernelReport& report, const Shape& known, const Shape& defaults, const Wish& wish) {
  constexpr std::size_t most = 20000;
  std::set<std::string> varied = wish.limited;
  varied.insert(wish.keys.begin(), wish.keys.end());
  varied.insert(wish.queries.begin(), wish.queries.end());
  TriedShapes tried{{known}, {}};
  for (const std::string& dim : varied) {
    if (known.contains(dim)) continue;
    tried.wished[dim] = wish.of(dim, defaults.at(dim));
    std::vector<Shape> longer;
    for (const Shape& shape : tried.shapes)
      for (const std::int64_t extent : candidates(report, dim, tried.wished[dim])) {
        longer.push_back(shape);
        longer.back()[dim] = extent;
      }
    if (longer.size() > most) break;
    tried.shapes = std::move(longer);
  }
  return tried;
}

/// The shape that takes the most of the wanted codes, and of those the nearest to the wish; empty if none of those tried takes any.
Shape shape_for(const Prepared& prepared, const KernelReport& report, const std::set<StageCode>& wanted, const Wish& wish) {
  const Graph& graph = prepared.graph.graph;
  const Shape& known = prepared.staging.specialisation.extents;
  const Shape defaults = fill_shape(graph, known).extents;
  const TriedShapes tried = shapes_to_try(report, known, defaults, wish);
  const auto wanted_of = [&](const Shape& extents) {
    std::set<StageCode> taken = codes_of(report, extents);
    std::erase_if(taken, [&](const StageCode& code) { return !wanted.contains(code); });
    return taken;
  };
  Shape best;
  std::set<StageCode> most;
  double least = std::numeric_limits<double>::infinity();
  for (const Shape& shape : tried.shapes) {
    const FilledShape filled = fill_shape(graph, shape);
    if (!filled.problem.empty()) continue;
    std::set<StageCode> taken = wanted_of(filled.extents);
    const double far = distance(filled.extents, tried.wished);
    if (taken.empty() || taken.size() < most.size() || (taken.size() == most.size() && far >= least)) continue;
    most = std::move(taken), least = far, best = shape;
  }
  if (most.empty()) return {};
  const auto is_kept = [&](const std::string& dim) { return wish.keys.contains(dim) || known.contains(dim); };
  const auto keeps_codes = [&](const Shape& extents) { return wanted_of(extents) == most; };
  best = made_smaller(graph, std::move(best), wish, defaults, is_kept, keeps_codes);
  return fill_shape(graph, made_small(graph, std::move(best), defaults, known)).extents;
}

/// The codes for calls of the size.
std::set<StageCode> codes_for(const KernelReport& report, SizeClass size) {
  std::set<StageCode> codes;
  for (const StageReport& stage : report.stages)
    if (stage.sizes.has(size)) codes.emplace(stage.code, size);
  return codes;
}

}  // namespace

CallShape call_shape(const KernelReport& report, const Shape& extents) {
  CallShape shape{extents, codes_of(report, extents), {}};
  std::vector<std::string> names;
  const Shape all = extents_in(report, extents);
  for (const StageReport& stage : report.stages) {
    const SizeClass size = stage.sizes.size_of(all);
    std::string schedule = stage.schedules.at(size).name;
    for (const StepSchedule& beside : stage.schedules.at(size).beside) schedule += " or " + beside.name;
    const std::string name = stage.sizes.entries.size() == 1 ? schedule : fmt::format("{} {}", name_of(size), schedule);
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  shape.schedules = fmt::format("{}", fmt::join(names, ", "));
  return shape;
}

CallShapes shapes_of_codes(const Prepared& prepared, const KernelReport& report, const TargetInfo& target) {
  CallShapes calls;
  std::set<StageCode> covered;
  for (const SizeClass size : size_classes) {
    const Wish wish = wish_for(prepared.graph.graph, report, size, target.device == Device::cpu);
    // The codes for large calls are tried beyond their tiles, also where a short call takes them.
    std::set<StageCode> wanted = codes_for(report, size);
    if (size != SizeClass::large) std::erase_if(wanted, [&](const StageCode& code) { return covered.contains(code); });
    while (!wanted.empty()) {
      const Shape extents = shape_for(prepared, report, wanted, wish);
      if (extents.empty()) break;
      const std::size_t before = covered.size();
      CallShape shape = call_shape(report, extents);
      covered.insert(shape.codes.begin(), shape.codes.end());
      if (covered.size() == before && !calls.shapes.empty() && size != SizeClass::large) break;
      calls.shapes.push_back(std::move(shape));
      if (std::erase_if(wanted, [&](const StageCode& code) { return covered.contains(code); }) == 0) break;
    }
    calls.missed.insert(calls.missed.end(), wanted.begin(), wanted.end());
  }
  std::erase_if(calls.missed, [&](const StageCode& code) { return covered.contains(code); });
  return calls;
}

}  // namespace attune
