/// A number in a graph.
#pragma once

#include <utility>

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
    if (kind == Kind::real) return {type, {}};
    const auto [low, high] = bounds();
    if (value >= low && value <= high && value == static_cast<double>(static_cast<std::int64_t>(value))) return {type, {}};
    return refuse(type, value, " is not of kind ", kind, ", which its other operand has");
  }
  void reference(const Extents&, std::span<const Array>, Array& out) const { out.data[0] = value; }

 private:
  /// The least and the greatest number of an integer kind; of i64 those that a double holds exactly.
  constexpr std::pair<double, double> bounds() const {
    switch (kind) {
      case Kind::boolean: return {0, 1};
      case Kind::i8: return {-128, 127};
      case Kind::u8: return {0, 255};
      case Kind::i32: return {-2147483648.0, 2147483647.0};
      default: return {-9007199254740992.0, 9007199254740992.0};
    }
  }
};

constexpr Value literal(Graph* graph, double value, Kind kind, Here at) {
  return call_in(graph, Constant{value, kind}, {}, at);
}

}  // namespace attune
