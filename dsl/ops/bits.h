/// Bits of integers, elementwise: and, or, exclusive or, shifts. A negative integer has the bits of two's complement, with no end on the left.
#pragma once

#include "dsl/ops/pointwise.h"

namespace attune {

struct BitAnd {
  static constexpr std::string_view name = "bit_and", meaning = "the bits that a and b have both";
  static constexpr int arity = 2;
  static constexpr Signature signature = Signature::integral;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a, N b) -> decltype(bit_and(a, b)) { return bit_and(a, b); }
};

struct BitOr {
  static constexpr std::string_view name = "bit_or", meaning = "the bits that a or b has";
  static constexpr int arity = 2;
  static constexpr Signature signature = Signature::integral;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a, N b) -> decltype(bit_or(a, b)) { return bit_or(a, b); }
};

struct BitXor {
  static constexpr std::string_view name = "bit_xor", meaning = "the bits that one of a and b has alone";
  static constexpr int arity = 2;
  static constexpr Signature signature = Signature::integral;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a, N b) -> decltype(bit_xor(a, b)) { return bit_xor(a, b); }
};

struct ShiftLeft {
  static constexpr std::string_view name = "shift_left", meaning = "a * 2^b; a b below 0 is taken as 0, one above 62 as 62";
  static constexpr int arity = 2;
  static constexpr Signature signature = Signature::integral;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a, N b) -> decltype(shift_left(a, b)) { return shift_left(a, b); }
};

struct ShiftRight {
  static constexpr std::string_view name = "shift_right",
                                    meaning = "the largest integer not above a / 2^b, so that the sign stays; a b below 0 is taken as 0, one above 62 as 62";
  static constexpr int arity = 2;
  static constexpr Signature signature = Signature::integral;
  static constexpr auto fields = std::tuple{};
  template <class N>
  static constexpr auto apply(N a, N b) -> decltype(shift_right(a, b)) { return shift_right(a, b); }
};

constexpr Value bit_and(Operand a, Operand b) { return binary<BitAnd>(a, b); }
constexpr Value bit_or(Operand a, Operand b) { return binary<BitOr>(a, b); }
constexpr Value bit_xor(Operand a, Operand b) { return binary<BitXor>(a, b); }
constexpr Value shift_left(Operand a, Operand b) { return binary<ShiftLeft>(a, b); }
constexpr Value shift_right(Operand a, Operand b) { return binary<ShiftRight>(a, b); }

}  // namespace attune
