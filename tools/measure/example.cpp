#include "tools/measure/example.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "dsl/follow.h"
#include "dsl/splitmix64.h"
#include "tools/measure/input_scale.h"

namespace attune {
namespace {

/// Random numbers that are the same on every machine.
class Generator : SplitMix64 {
 public:
  using SplitMix64::SplitMix64;
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double normal() { return std::sqrt(-2 * std::log(1 - uniform())) * std::cos(2 * std::numbers::pi * uniform()); }
  std::int64_t below(std::int64_t count) { return count <= 0 ? 0 : static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(count)); }
};

std::int64_t default_extent(Name dim) {
  constexpr std::pair<Name, std::int64_t> table[] = {{"batch", 2},   {"heads", 3},   {"group", 2},  {"queries", 37},  {"keys", 53},
                                                     {"tokens", 37}, {"depth", 64}, {"model", 48}, {"hidden", 24}};
  for (const auto& [name, extent] : table)
    if (name == dim) return extent;
  return 7;
}

const Input* input_of(const Node& node) { return std::get_if<Input>(&node.op); }

/// The extent along which the node chooses, itself or where a select takes it, or 0.
std::int64_t chosen_along(const Graph& graph, int node, const Shape& extents) {
  for (int user = node + 1; user < static_cast<int>(graph.nodes().size()); ++user) {
    const Node& by = graph.node(user);
    const auto* gather = std::get_if<Gather>(&by.op);
    if (gather != nullptr && by.inputs[1] == node) return extents.at(std::string(gather->along));
    if (std::holds_alternative<Select>(by.op) && (by.inputs[1] == node || by.inputs[2] == node))
      if (const std::int64_t extent = chosen_along(graph, user, extents); extent > 0) return extent;
  }
  return 0;
}

/// How many values an integer input may have: positions of what it is compared with or chosen along.
std::int64_t value_count(const Graph& graph, int input, const Shape& extents) {
  std::int64_t largest = 1;
  for (const auto& [dim, extent] : extents) largest = std::max(largest, extent);
  if (const std::int64_t extent = chosen_along(graph, input, extents); extent > 0) return extent;
  for (const Node& node : graph.nodes()) {
    const auto in = node.operands();
    if (std::find(in.begin(), in.end(), input) == in.end()) continue;
    if (const auto* write = std::get_if<WriteRows>(&node.op)) return extents.at(std::string(write->along)) + 1;
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
FollowedShape followed_shape(const Graph& graph, const Shape& chosen) {
  FilledShape filled;
  const auto fail = [&](std::string problem, std::string_view too_short = {}) {
    filled.problem = std::move(problem);
    return FollowedShape{std::move(filled), std::string(too_short)};
  };
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
    const auto [extent, problem, too_short, is_too_large] = attune::follow(d, [&](Name operand) { return filled.extents.find(operand)->second; });
    if (is_too_large)
      return fail("--shape: " + name + ", which follows from " + std::string(sentence(d.operands).view()) + ", is larger than 63 bits count");
    if (!problem.empty()) return fail("--shape: " + std::string(problem.view()), too_short);
    if (said != chosen.end() && said->second != extent)
      return fail("--shape " + name + "=" + std::to_string(said->second) + ": follows from other dims; it is " + std::to_string(extent));
    filled.extents[name] = extent;
  }
  return {std::move(filled), {}};
}

}  // namespace

std::set<std::string> free_dims_of(const Graph& graph, std::set<std::string> dims) {
  const auto infos = graph.dim_infos();
  for (std::size_t i = infos.size(); i-- > 0;)
    if (dims.contains(std::string(infos[i].name()))) dims.insert(infos[i].derivation.operands.begin(), infos[i].derivation.operands.end());
  std::set<std::string> free;
  for (const DimInfo& info : infos)
    if (info.derivation.formula == Formula::free && dims.contains(std::string(info.name()))) free.emplace(info.name());
  return free;
}

FilledShape fill_shape(const Graph& graph, const Shape& given) {
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
    FollowedShape followed = followed_shape(graph, chosen);
    std::set<std::string> open = followed.too_short.empty() ? std::set<std::string>() : free_dims_of(graph, {followed.too_short});
    std::erase_if(open, [&](const std::string& dim) { return given.contains(dim); });
    if (open.empty() || step == most_steps) return std::move(followed.filled);
    chosen[*open.begin()] = followed.filled.extents.at(*open.begin()) + 1;
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
