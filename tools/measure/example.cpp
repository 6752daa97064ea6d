#include "tools/measure/example.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tools/measure/input_scale.h"

namespace attune {
namespace {

/// A small generator whose numbers are the same on every machine (SplitMix64; Steele, Lea, Flood, OOPSLA 2014).
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double normal() { return std::sqrt(-2 * std::log(1 - uniform())) * std::cos(2 * std::numbers::pi * uniform()); }
  std::int64_t below(std::int64_t count) { return count <= 0 ? 0 : static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(count)); }

 private:
  std::uint64_t state_;
};

std::int64_t default_extent(Name dim) {
  constexpr std::pair<Name, std::int64_t> table[] = {{"batch", 2},   {"heads", 3},   {"group", 2},  {"queries", 37},  {"keys", 53},
                                                     {"tokens", 37}, {"depth", 64}, {"model", 48}, {"hidden", 24}};
  for (const auto& [name, extent] : table)
    if (name == dim) return extent;
  return 7;
}

const Input* input_of(const Node& node) { return std::get_if<Input>(&node.op); }

/// How many values an integer input may have: positions of what it is compared with or chosen along.
std::int64_t value_count(const Graph& graph, int input, const Shape& extents) {
  std::int64_t largest = 1;
  for (const auto& [dim, extent] : extents) largest = std::max(largest, extent);
  for (const Node& node : graph.nodes()) {
    const auto in = node.operands();
    if (std::find(in.begin(), in.end(), input) == in.end()) continue;
    if (const auto* gather = std::get_if<Gather>(&node.op)) return extents.at(std::string(gather->along));
    for (const int other : in)
      for (Name dim : graph.node(other).type.dims)
        if (other != input && !graph.node(input).type.dims.has(dim) && extents.contains(dim)) return extents.find(dim)->second + 1;
  }
  return largest;
}

/// The shape as it follows from `chosen` and the defaults; where a dim cannot be divided, or has too few positions, as a formula wants, that dim.
struct FollowedShape {
  FilledShape filled;
  std::string too_short;
};
FollowedShape follow(const Graph& graph, const Shape& chosen) {
  FollowedShape followed;
  FilledShape& filled = followed.filled;
  const auto fail = [&](std::string problem) { filled.problem = std::move(problem); };
  for (const DimInfo& info : graph.dim_infos()) {
    const std::string name(info.name());
    const Derivation& d = info.derivation;
    const auto said = chosen.find(name);
    if (d.formula == Formula::free) {
      const auto depth = chosen.find("depth");
      std::int64_t extent = default_extent(name);
      if (name == "value_depth") extent = depth != chosen.end() ? depth->second : default_extent("depth");
      filled.extents[name] = said != chosen.end() ? said->second : extent;
      continue;
    }
    std::int64_t extent = d.formula == Formula::sum ? 0 : d.value;
    for (Name operand : d.operands) {
      const std::int64_t other = filled.extents.at(std::string(operand));
      if (d.formula == Formula::quotient && other % d.value != 0) {
        followed.too_short = operand;
        fail("--shape: " + std::string(operand) + " is " + std::to_string(other) + "; it must be a multiple of " + std::to_string(d.value));
        return followed;
      }
      if (d.formula == Formula::slice) {
        const Steps steps = Steps::of(d.value);
        extent = steps.taken_of(other);
        if (other >= steps.least_extent()) continue;
        followed.too_short = operand;
        fail("--shape: " + std::string(operand) + " is " + std::to_string(other) + "; it must be at least " + std::to_string(steps.least_extent()));
        return followed;
      }
      if (d.formula == Formula::quotient) extent = other / d.value;
      else if (d.formula == Formula::sum ? __builtin_add_overflow(extent, other, &extent) : __builtin_mul_overflow(extent, other, &extent)) {
        fail("--shape: " + name + ", which follows from " + std::string(sentence(d.operands).view()) + ", is larger than 63 bits count");
        return followed;
      }
    }
    if (said != chosen.end() && said->second != extent) {
      fail("--shape " + name + "=" + std::to_string(said->second) + ": follows from other dims; it is " + std::to_string(extent));
      return followed;
    }
    filled.extents[name] = extent;
  }
  return followed;
}

/// A free dim that `dim` is or follows from and of which nothing is said, or nothing.
std::string open_dim(const Graph& graph, std::string_view dim, const Shape& given) {
  for (const DimInfo& info : graph.dim_infos()) {
    if (info.name() != dim) continue;
    if (info.derivation.formula == Formula::free) return given.contains(dim) ? std::string() : std::string(dim);
    for (Name operand : info.derivation.operands)
      if (std::string open = open_dim(graph, operand, given); !open.empty()) return open;
  }
  return {};
}

}  // namespace

FilledShape fill_shape(const Graph& graph, const Shape& given) {
  FilledShape filled;
  std::string names;
  for (const DimInfo& info : graph.dim_infos()) names += (names.empty() ? "" : ", ") + std::string(info.name());
  for (const auto& [dim, extent] : given) {
    const bool is_known = std::ranges::any_of(graph.dim_infos(), [&](const DimInfo& info) { return info.name() == dim; });
    if (!is_known) return {{}, "--shape " + dim + "=" + std::to_string(extent) + ": the graph has no dim '" + dim + "'; it has " + names};
  }
  // A dim that the user leaves open grows until what is cut into parts of a known extent can be.
  constexpr int most_steps = 4096;
  Shape chosen = given;
  for (int step = 0;; ++step) {
    FollowedShape followed = follow(graph, chosen);
    const std::string open = followed.too_short.empty() ? std::string() : open_dim(graph, followed.too_short, given);
    if (open.empty() || step == most_steps) return std::move(followed.filled);
    chosen[open] = followed.filled.extents.at(open) + 1;
  }
}

Arrays random_inputs(const Graph& graph, const Shape& extents, std::uint64_t seed) {
  return normal_inputs(graph, extents, seed, input_scales(graph, extents));
}

Arrays normal_inputs(const Graph& graph, const Shape& extents, std::uint64_t seed, const std::map<std::string, double, std::less<>>& deviations) {
  Generator generator(seed);
  DimExtents table;
  for (const auto& [dim, extent] : extents) table[dim] = extent;
  Arrays arrays;
  for (int id = 0; id < static_cast<int>(graph.nodes().size()); ++id) {
    const Input* input = input_of(graph.node(id));
    if (input == nullptr) continue;
    Array array(input->type, table);
    const double deviation = input->type.kind == Kind::real ? deviations.find(input->label)->second : 0;
    const std::int64_t count = input->type.kind == Kind::real ? 0 : value_count(graph, id, extents);
    for (double& x : array.data) {
      if (input->type.kind == Kind::real) x = deviation * generator.normal();
      else if (input->type.kind == Kind::boolean) x = generator.below(10) < 7 ? 1 : 0;
      else x = static_cast<double>(generator.below(count));
    }
    arrays.emplace(input->label, std::move(array));
  }
  return arrays;
}

}  // namespace attune
