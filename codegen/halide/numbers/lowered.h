/// Numbers for lowering: Halide expressions that carry a known integer range and bring their own vector functions.
#pragma once

#include <Halide.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "codegen/halide/numbers/load.h"
#include "dsl/integer_range.h"
#include "dsl/interval.h"
#include "dsl/interval_functions.h"

namespace attune {

/// A scalar Halide expression with the arithmetic of the language: `apply` of every pointwise operation works on it.
/// Reals are Float(32). Integers are Int(32) where `range` fits into it, Int(64) otherwise: results of 32-bit arithmetic never wrap.
/// Booleans are Bool(). A constant is folded where its range is one number or its truth is known.
struct Lowered {
  Halide::Expr expr;
  Range range{};  ///< of an integer: what it is known to lie in
  /// Of a real: a literal may have made it infinite, NaN, very large or very small. Arithmetic on it is strict, so that nothing is cancelled
  /// (inf - inf is NaN) and no two factors become infinite before they meet a third.
  bool may_be_special = false;
  std::shared_ptr<const Load> load = {};  ///< of a number that is one element of memory, made real and times what reads none at most

  /// Infinities, NaN and what is very large or small are opaque (codegen/halide/numbers/opaque_real.h).
  static Lowered real(double value);
  /// An end of an interval: a literal as it is, for Halide to decide by. Conditions of blocks are strict.
  static Lowered bound(double value);
  static Lowered integer(std::int64_t value);
  static Lowered boolean(bool value);
  /// An element as it is loaded: f16, bf16 and f64 become f32; an integer has the range of its type.
  static Lowered of(Halide::Expr loaded);
  /// An integer that the caller knows to lie in `range`.
  static Lowered of(Halide::Expr integer, Range range);

  bool is_real() const { return expr.type().is_float(); }
  bool is_boolean() const { return expr.type().is_bool(); }
  bool is_integer() const { return !is_real() && !is_boolean(); }
};

Lowered operator+(const Lowered& a, const Lowered& b);
Lowered operator-(const Lowered& a, const Lowered& b);
Lowered operator-(const Lowered& a);
Lowered operator*(const Lowered& a, const Lowered& b);
Lowered operator/(const Lowered& a, const Lowered& b);  ///< of reals
Lowered floor_div(const Lowered& a, const Lowered& b);  ///< of integers, rounded down; 0 where b is 0
Lowered mod(const Lowered& a, const Lowered& b);        ///< of integers, with the sign of b; 0 where b is 0
Lowered bit_and(const Lowered& a, const Lowered& b);    ///< of integers, as the next two
Lowered bit_or(const Lowered& a, const Lowered& b);
Lowered bit_xor(const Lowered& a, const Lowered& b);
Lowered shift_left(const Lowered& a, const Lowered& b);   ///< a * 2^b, b cut to 0 to 62
Lowered shift_right(const Lowered& a, const Lowered& b);  ///< a / 2^b, rounded down, b cut to 0 to 62
Lowered minimum(const Lowered& a, const Lowered& b);    ///< NaN if either is NaN; of truth values "and"
Lowered maximum(const Lowered& a, const Lowered& b);    ///< NaN if either is NaN; of truth values "or"
Lowered abs(const Lowered& x);

// Comparisons with NaN are false, but for !=.
Lowered operator<(const Lowered& a, const Lowered& b);
Lowered operator<=(const Lowered& a, const Lowered& b);
Lowered operator>(const Lowered& a, const Lowered& b);
Lowered operator>=(const Lowered& a, const Lowered& b);
Lowered operator==(const Lowered& a, const Lowered& b);
Lowered operator!=(const Lowered& a, const Lowered& b);

Lowered operator&&(const Lowered& a, const Lowered& b);
Lowered operator||(const Lowered& a, const Lowered& b);
Lowered operator!(const Lowered& a);
Lowered select(const Lowered& condition, const Lowered& a, const Lowered& b);

// Functions of a real; an integer becomes real. Their errors stand in codegen/halide/numbers/vector_math.h.
Lowered exp(const Lowered& x);
Lowered log(const Lowered& x);
Lowered sqrt(const Lowered& x);
Lowered rsqrt(const Lowered& x);
Lowered pow(const Lowered& a, const Lowered& b);
Lowered tanh(const Lowered& x);
Lowered sigmoid(const Lowered& x);
Lowered erf(const Lowered& x);
Lowered sin(const Lowered& x);
Lowered cos(const Lowered& x);
Lowered floor(const Lowered& x);

Lowered to_real(const Lowered& x);
/// Rounded towards zero; NaN and what is beyond 2^62 give -2^62 or 2^62.
Lowered to_i64(const Lowered& x);

// What Interval needs of its number. Expressions of a block and of an element may contract and be reordered differently, so the ends
// of real intervals move apart: after sums by a share of the operands, otherwise of themselves. An integer end that is the least or the
// greatest i64 is unbounded, and stays so in sums and products: it must not wrap.
Lowered constant_like(const Lowered& x, double value);
bool is_certain(const Lowered& condition);
double function_error(const Lowered& x);  ///< 8 ulp of f32
Interval<Lowered> after_sum(const Interval<Lowered>& sum, const Interval<Lowered>& a, const Interval<Lowered>& b);
Interval<Lowered> after_product(const Interval<Lowered>& product, const Interval<Lowered>& a, const Interval<Lowered>& b);
Lowered corner(const Lowered& a, const Lowered& b);
/// Integers of which nothing is known, for a choice between these and others: both ends have negatives, and Halide does not see them, which makes numbers
/// beyond 64 bits of them and of others.
Interval<Lowered> unbounded_integers();
Interval<Lowered> to_i64(const Interval<Lowered>& x);

/// An end of a block's predicate as the condition of a schedule. Where reals are in it, it is strict, so that what is unknown is still
/// NaN at run time, and shared parts are named by Lets.
Halide::Expr block_condition(const Lowered& truth);

}  // namespace attune
