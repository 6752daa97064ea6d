#include "tools/measure/example.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

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

}  // namespace

FilledShape fill_shape(const Graph& graph, const Shape& given) {
  FilledShape filled;
  std::string names;
  for (const DimInfo& info : graph.dim_infos()) names += (names.empty() ? "" : ", ") + std::string(info.name());
  for (const auto& [dim, extent] : given) {
    const bool is_known = std::ranges::any_of(graph.dim_infos(), [&](const DimInfo& info) { return info.name() == dim; });
    if (!is_known) return {{}, "--shape " + dim + "=" + std::to_string(extent) + ": the graph has no dim '" + dim + "'; it has " + names};
  }
  for (const DimInfo& info : graph.dim_infos()) {
    const std::string name(info.name());
    const Derivation& d = info.derivation;
    const auto said = given.find(name);
    if (d.formula == Formula::free) {
      const auto depth = given.find("depth");
      std::int64_t extent = default_extent(name);
      if (name == "value_depth") extent = depth != given.end() ? depth->second : default_extent("depth");
      filled.extents[name] = said != given.end() ? said->second : extent;
      continue;
    }
    std::int64_t extent = d.formula == Formula::sum ? 0 : d.value;
    for (Name operand : d.operands) {
      const std::int64_t other = filled.extents.at(std::string(operand));
      if (d.formula == Formula::quotient && other % d.value != 0)
        return {{}, "--shape: " + std::string(operand) + " is " + std::to_string(other) + "; it must be a multiple of " + std::to_string(d.value)};
      if (d.formula == Formula::quotient) extent = other / d.value;
      else if (d.formula == Formula::sum ? __builtin_add_overflow(extent, other, &extent) : __builtin_mul_overflow(extent, other, &extent))
        return {{}, "--shape: " + name + ", which follows from " + std::string(sentence(d.operands).view()) + ", is larger than 63 bits count"};
    }
    if (said != given.end() && said->second != extent)
      return {{}, "--shape " + name + "=" + std::to_string(said->second) + ": follows from other dims; it is " + std::to_string(extent)};
    filled.extents[name] = extent;
  }
  return filled;
}

Arrays random_inputs(const Graph& graph, const Shape& extents, std::uint64_t seed) {
  Generator generator(seed);
  DimExtents table;
  for (const auto& [dim, extent] : extents) table[dim] = extent;
  Arrays arrays;
  for (int id = 0; id < static_cast<int>(graph.nodes().size()); ++id) {
    const Input* input = input_of(graph.node(id));
    if (input == nullptr) continue;
    Array array(input->type, table);
    const std::int64_t count = input->type.kind == Kind::real ? 0 : value_count(graph, id, extents);
    for (double& x : array.data) {
      if (input->type.kind == Kind::real) x = generator.normal();
      else if (input->type.kind == Kind::boolean) x = generator.below(10) < 7 ? 1 : 0;
      else x = static_cast<double>(generator.below(count));
    }
    arrays.emplace(input->label, std::move(array));
  }
  return arrays;
}

double tolerance(const Magnitudes& m, bool has_bf16) {
  const double u = 0x1p-24, length = std::sqrt(static_cast<double>(m.sum_length));
  const double f32 = 1e-5 * std::max(1.0, m.output) + 4 * u * m.score * m.factor + 4 * u * length * m.factor * std::max(1.0, m.factor);
  return has_bf16 ? f32 + 0x1p-8 * (m.output + m.factor) : f32;
}

Difference compare(const std::vector<double>& got, const Array& expected, double allowed) {
  Difference d;
  d.elements = static_cast<std::int64_t>(got.size());
  std::size_t worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double a = got[i], b = expected.data[i];
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    const double difference = std::isfinite(a) && std::isfinite(b) ? std::abs(a - b) : std::numeric_limits<double>::infinity();
    if (difference > allowed) ++d.differing;
    if (difference > d.worst) {
      d.worst = difference;
      worst = i;
    }
  }
  if (got.empty()) return d;
  d.got = got[worst];
  d.expected = expected.data[worst];
  d.worst_index.resize(expected.extents.size());
  for (std::size_t i = expected.extents.size(); i-- > 0;) {
    d.worst_index[i] = static_cast<std::int64_t>(worst) % expected.extents[i];
    worst /= static_cast<std::size_t>(expected.extents[i]);
  }
  return d;
}

std::string describe(const Difference& d, double allowed) {
  char numbers[160];
  std::snprintf(numbers, sizeof numbers, "got %.9g, expected %.9g, allowed %.3g", d.got, d.expected, allowed);
  std::string index;
  for (const std::int64_t i : d.worst_index) index += (index.empty() ? "" : ", ") + std::to_string(i);
  return std::to_string(d.differing) + " of " + std::to_string(d.elements) + " elements differ; worst at [" + index + "]: " + numbers;
}

}  // namespace attune
