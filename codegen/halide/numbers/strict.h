/// Single strict floating-point operations: the node alone obeys IEEE, what its operands are made of may still contract into FMAs.
/// Halide::strict_float(e) makes all of e strict down to the loads, and so computes a second time what is also used outside of e.
#pragma once

#include <Halide.h>

#include <cstdint>
#include <utility>

namespace attune {

inline Halide::Expr strict(Halide::Internal::Call::IntrinsicOp operation, Halide::Type result, Halide::Expr a, Halide::Expr b) {
  Halide::Internal::match_types(a, b);
  result = result.with_lanes(a.type().lanes());
  return Halide::Internal::Call::make(result, operation, {std::move(a), std::move(b)}, Halide::Internal::Call::PureIntrinsic);
}

inline Halide::Expr strict_add(Halide::Expr a, Halide::Expr b) {
  return strict(Halide::Internal::Call::strict_add, a.type(), a, std::move(b));
}

inline Halide::Expr strict_subtract(Halide::Expr a, Halide::Expr b) {
  return strict(Halide::Internal::Call::strict_sub, a.type(), a, std::move(b));
}

inline Halide::Expr strict_multiply(Halide::Expr a, Halide::Expr b) {
  return strict(Halide::Internal::Call::strict_mul, a.type(), a, std::move(b));
}

inline Halide::Expr strict_divide(Halide::Expr a, Halide::Expr b) {
  return strict(Halide::Internal::Call::strict_div, a.type(), a, std::move(b));
}

/// a < b, false if either is NaN.
inline Halide::Expr strict_less(Halide::Expr a, Halide::Expr b) {
  return strict(Halide::Internal::Call::strict_lt, Halide::Bool(), std::move(a), std::move(b));
}

/// Whether x is not NaN, by its bits.
inline Halide::Expr has_number_bits(const Halide::Expr& x) {
  return (Halide::reinterpret<std::uint32_t>(x) & Halide::Expr(0x7fffffffu)) <= Halide::Expr(0x7f800000u);
}

/// Whether x is neither NaN nor infinite, by its bits.
inline Halide::Expr has_finite_bits(const Halide::Expr& x) {
  return (Halide::reinterpret<std::uint32_t>(x) & Halide::Expr(0x7fffffffu)) < Halide::Expr(0x7f800000u);
}

/// a == b, false if either is NaN. Where Halide partitions loops it takes strict comparisons for others, and x == x for true.
inline Halide::Expr strict_equal(Halide::Expr a, Halide::Expr b) {
  if (Halide::Internal::graph_equal(a, b)) return has_number_bits(a);
  return strict(Halide::Internal::Call::strict_eq, Halide::Bool(), std::move(a), std::move(b));
}

/// a <= b, false if either is NaN. Not of Call::strict_le, which Halide 21 makes !(a > b) on x86; LLVM makes one comparison of this.
inline Halide::Expr strict_less_equal(const Halide::Expr& a, const Halide::Expr& b) { return strict_less(a, b) || strict_equal(a, b); }

}  // namespace attune
