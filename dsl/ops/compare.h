/// Comparisons, elementwise: booleans from numbers of one kind.
#pragma once

#include "dsl/ops/pointwise.h"

namespace attune {

struct Less {
  static constexpr std::string_view name = "less", meaning = "a < b";
  static constexpr int arity = 2;
  static constexpr Signature signature = Signature::comparison;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a, N b) -> decltype(a < b) { return a < b; }
};

struct LessEqual {
  static constexpr std::string_view name = "less_equal", meaning = "a <= b";
  static constexpr int arity = 2;
  static constexpr Signature signature = Signature::comparison;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a, N b) -> decltype(a <= b) { return a <= b; }
};

struct Greater {
  static constexpr std::string_view name = "greater", meaning = "a > b";
  static constexpr int arity = 2;
  static constexpr Signature signature = Signature::comparison;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a, N b) -> decltype(a > b) { return a > b; }
};

struct GreaterEqual {
  static constexpr std::string_view name = "greater_equal", meaning = "a >= b";
  static constexpr int arity = 2;
  static constexpr Signature signature = Signature::comparison;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a, N b) -> decltype(a >= b) { return a >= b; }
};

struct Equal {
  static constexpr std::string_view name = "equal", meaning = "a == b";
  static constexpr int arity = 2;
  static constexpr Signature signature = Signature::comparison;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a, N b) -> decltype(a == b) { return a == b; }
};

struct NotEqual {
  static constexpr std::string_view name = "not_equal", meaning = "a != b";
  static constexpr int arity = 2;
  static constexpr Signature signature = Signature::comparison;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a, N b) -> decltype(a != b) { return a != b; }
};

constexpr Value operator<(Operand a, Operand b) { return binary<Less>(a, b); }
constexpr Value operator<=(Operand a, Operand b) { return binary<LessEqual>(a, b); }
constexpr Value operator>(Operand a, Operand b) { return binary<Greater>(a, b); }
constexpr Value operator>=(Operand a, Operand b) { return binary<GreaterEqual>(a, b); }
constexpr Value operator==(Operand a, Operand b) { return binary<Equal>(a, b); }
constexpr Value operator!=(Operand a, Operand b) { return binary<NotEqual>(a, b); }

}  // namespace attune
