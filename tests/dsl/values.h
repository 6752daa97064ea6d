/// Arrays written down in tests, graphs described in place, and comparisons that say which element is off.
#pragma once

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "dsl/interpret.h"

namespace attune {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double quiet_nan = std::numeric_limits<double>::quiet_NaN();

/// Half a unit of the last of so many published decimal places.
inline double published(int places) { return 0.5000001 * std::pow(10, -places); }
/// What double rounding may do to a sum of `length` terms of about `size`.
inline double rounding(double length = 1, double size = 1) { return 8 * length * size * std::numeric_limits<double>::epsilon(); }

inline Array array(std::vector<std::int64_t> extents, std::vector<double> data) {
  Array a;
  a.extents = std::move(extents);
  a.data = std::move(data);
  return a;
}
inline Array scalar(double value) { return array({}, {value}); }

inline std::string text(const Text& t) { return std::string(t.view()); }

/// The outputs of a graph that must be valid, for inputs that must fit.
inline Arrays outputs_of(const Graph& graph, const Arrays& inputs) {
  REQUIRE(text(graph.problem()) == "");
  Interpretation result = interpret(graph, inputs);
  REQUIRE(result.problem == "");
  return std::move(result.outputs);
}

/// Whether composites are among the graph's operations.
inline bool has_composites(const Graph& graph) {
  for (const Node& node : graph.nodes())
    if (std::visit([]<class Op>(const Op&) { return CompositeOp<Op>; }, node.op)) return true;
  return false;
}

/// The outputs of the graph that `describe(g)` builds.
template <class Describe>
Arrays outputs_of(const Arrays& inputs, Describe describe) {
  Graph g;
  describe(g);
  g.finish();
  return outputs_of(g, inputs);
}
/// Its output "out".
template <class Describe>
Array result_of(const Arrays& inputs, Describe describe) {
  return outputs_of(inputs, describe).at("out");
}

/// Equal extents, and elements that differ by `allowed` at most; NaN agrees with NaN, an infinity with itself.
inline void check_close(const Array& got, const Array& expected, double allowed = 0) {
  REQUIRE(got.extents == expected.extents);
  REQUIRE(got.data.size() == expected.data.size());
  std::size_t differing = 0, worst = 0;
  double worst_difference = -1;
  for (std::size_t i = 0; i < got.data.size(); ++i) {
    const double a = got.data[i], b = expected.data[i];
    if (a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= allowed) continue;
    ++differing;
    const double difference = std::isnan(a - b) ? infinity : std::abs(a - b);
    if (difference > worst_difference) worst = i, worst_difference = difference;
  }
  if (differing == 0) {
    SUCCEED();
    return;
  }
  INFO(differing << " of " << got.data.size() << " elements differ; worst at " << worst << ": got " << got.data[worst] << ", expected "
                 << expected.data[worst] << ", allowed " << allowed);
  CHECK(differing == 0);
}
/// The same, the expected array written down.
inline void check_elements(const Array& got, std::vector<std::int64_t> extents, std::vector<double> data, double allowed = 0) {
  check_close(got, array(std::move(extents), std::move(data)), allowed);
}

}  // namespace attune
