/// Logic on booleans, and the choice between two values.
#pragma once

#include "dsl/ops/pointwise.h"

namespace attune {

struct And {
  static constexpr std::string_view name = "and", meaning = "a and b";
  static constexpr int arity = 2;
  static constexpr Signature signature = Signature::logic;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a, N b) -> decltype(a && b) { return a && b; }
};

struct Or {
  static constexpr std::string_view name = "or", meaning = "a or b";
  static constexpr int arity = 2;
  static constexpr Signature signature = Signature::logic;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a, N b) -> decltype(a || b) { return a || b; }
};

struct Not {
  static constexpr std::string_view name = "not", meaning = "not a";
  static constexpr int arity = 1;
  static constexpr Signature signature = Signature::logic;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a) -> decltype(!a) { return !a; }
};

struct Select {
  static constexpr std::string_view name = "select", meaning = "a ? b : c";
  static constexpr int arity = 3;
  static constexpr Signature signature = Signature::selection;
  static constexpr auto fields = std::tuple{};
  template <class B, class N>
  static constexpr auto apply(B a, N b, N c) -> decltype(select(a, b, c)) { return select(a, b, c); }
  constexpr void pull(auto& g) const {
    g.add(1, [&] { return select(g.in(0), g.out, 0.0); });
    g.add(2, [&] { return select(g.in(0), 0.0, g.out); });
  }
};

constexpr Value operator&&(Operand a, Operand b) { return binary<And>(a, b); }
constexpr Value operator||(Operand a, Operand b) { return binary<Or>(a, b); }
constexpr Value operator!(Operand a) { return call(Not{}, {a.value()}, a.at); }
/// condition ? a : b, elementwise; a number takes the kind of the other.
constexpr Value select(Value condition, Operand a, Operand b, Here at = Here::current()) {
  if (!a.is_value() && !b.is_value())
    return call(Select{}, {condition, literal(condition.graph, a.number, Kind::real, at), literal(condition.graph, b.number, Kind::real, at)}, at);
  return call(Select{}, {condition, a.beside(b), b.beside(a)}, at);
}

}  // namespace attune
