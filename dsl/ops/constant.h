/// A number in a graph.
#pragma once

#include <concepts>

#include "dsl/array.h"
#include "dsl/op.h"

namespace attune {

struct Constant {
  double value = 0;
  Kind kind = Kind::real;

  static constexpr std::string_view name = "constant", meaning = "`value`, of `kind`";
  static constexpr int arity = 0;
  static constexpr auto fields = std::tuple{Field{"value", &Constant::value}, Field{"kind", &Constant::kind}};

  /// A scalar. Refuses a number that its kind does not have.
  constexpr Checked infer(std::span<const Type>) const {
    const Type type{kind, {}};
    if (holds(kind, value)) return {type, {}};
    return refuse(type, value, " is not of kind ", kind, ", which its other operand has");
  }
  void reference(const DimExtents&, std::span<const Array>, Array& out) const { out.data[0] = value; }
};

constexpr Value literal(Graph* graph, double value, Kind kind, Here at) {
  return call_in(graph, Constant{value, kind}, {}, at);
}

/// constant(g, 0) is an i64, constant(g, 0.0) a real, constant(g, true) a boolean. Refuses an integer that a double does not hold.
template <class T>
  requires std::integral<T> || std::floating_point<T>
constexpr Value constant(Graph& graph, T value, Here at = Here::current());

}  // namespace attune
