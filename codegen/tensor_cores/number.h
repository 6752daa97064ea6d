/// Numbers for code of MLIR: values of the dialects arith and math with the language's arithmetic.
#pragma once

#include <mlir/IR/ImplicitLocOpBuilder.h>
#include <mlir/IR/Value.h>

#include <cstdint>

#include "dsl/integer_range.h"
#include "dsl/interval.h"
#include "dsl/interval_functions.h"

namespace attune::tensor_cores {

using Builder = mlir::ImplicitLocOpBuilder;

/// A scalar value that `apply` of every pointwise operation works on; operations are built where `builder` stands.
/// Reals are f32. Integers are i32 where `range` fits into it, i64 otherwise: results of 32-bit arithmetic never wrap. Booleans are i1.
/// A constant is folded where its range is one number or its truth is known.
struct Emitted {
  Builder* builder = nullptr;
  mlir::Value value;
  Range range{};  ///< of an integer

  static Emitted real(Builder& builder, double value);
  static Emitted integer(Builder& builder, std::int64_t value);
  static Emitted boolean(Builder& builder, bool value);
  /// An integer of any width that the caller knows to lie in `range`.
  static Emitted of(Builder& builder, mlir::Value integer, Range range);

  bool is_real() const { return value.getType().isF32(); }
  bool is_boolean() const { return value.getType().isInteger(1); }
  bool is_integer() const { return !is_real() && !is_boolean(); }
};

Emitted operator+(const Emitted& a, const Emitted& b);
Emitted operator-(const Emitted& a, const Emitted& b);
Emitted operator-(const Emitted& a);
Emitted operator*(const Emitted& a, const Emitted& b);
Emitted operator/(const Emitted& a, const Emitted& b);  ///< of reals
Emitted floor_div(const Emitted& a, const Emitted& b);  ///< of integers, rounded down; 0 where b is 0
Emitted mod(const Emitted& a, const Emitted& b);        ///< of integers, with the sign of b; 0 where b is 0
Emitted bit_and(const Emitted& a, const Emitted& b);    ///< of integers, as the next two
Emitted bit_or(const Emitted& a, const Emitted& b);
Emitted bit_xor(const Emitted& a, const Emitted& b);
Emitted shift_left(const Emitted& a, const Emitted& b);   ///< a * 2^b, b cut to 0 to 62
Emitted shift_right(const Emitted& a, const Emitted& b);  ///< a / 2^b, rounded down, b cut to 0 to 62
Emitted minimum(const Emitted& a, const Emitted& b);    ///< NaN if either is NaN; of truth values "and"
Emitted maximum(const Emitted& a, const Emitted& b);    ///< NaN if either is NaN; of truth values "or"
Emitted abs(const Emitted& x);

// Comparisons with NaN are false, but for !=.
Emitted operator<(const Emitted& a, const Emitted& b);
Emitted operator<=(const Emitted& a, const Emitted& b);
Emitted operator>(const Emitted& a, const Emitted& b);
Emitted operator>=(const Emitted& a, const Emitted& b);
Emitted operator==(const Emitted& a, const Emitted& b);
Emitted operator!=(const Emitted& a, const Emitted& b);

Emitted operator&&(const Emitted& a, const Emitted& b);
Emitted operator||(const Emitted& a, const Emitted& b);
Emitted operator!(const Emitted& a);
Emitted select(const Emitted& condition, const Emitted& a, const Emitted& b);

/// An instruction of f32 that LLVM has as an intrinsic of NVIDIA's GPUs.
mlir::Value instruction(Builder& builder, llvm::StringRef name, mlir::Value x);
inline constexpr llvm::StringLiteral exp2_approx = "llvm.nvvm.ex2.approx.ftz.f32";  ///< 2^x within 2 ulp; results below 2^-126 are 0

// Functions of a real; an integer becomes real. Those without a formula of their own are operations of the dialect math, which
// codegen/tensor_cores/ptx.cpp computes by polynomials.
Emitted exp(const Emitted& x);
Emitted log(const Emitted& x);
Emitted sqrt(const Emitted& x);
Emitted rsqrt(const Emitted& x);
Emitted pow(const Emitted& a, const Emitted& b);
Emitted tanh(const Emitted& x);
/// tanh x where is_near_zero(x), by a polynomial.
Emitted tanh_near_zero(const Emitted& x);
Emitted is_near_zero(const Emitted& x);
Emitted sigmoid(const Emitted& x);
Emitted erf(const Emitted& x);
Emitted sin(const Emitted& x);
Emitted cos(const Emitted& x);
Emitted floor(const Emitted& x);

Emitted to_real(const Emitted& x);
/// Rounded towards zero; NaN and what is beyond 2^62 give -2^62 or 2^62.
Emitted to_i64(const Emitted& x);

// What Interval needs of its number. The ends of real intervals move apart, as code of a block and of an element may contract differently. An integer
// end that is the least or the greatest i64 is unbounded, and stays so in sums and products: it must not wrap.
Emitted constant_like(const Emitted& x, double value);
bool is_certain(const Emitted& condition);
double function_error(const Emitted& x);  ///< 16 ulp of f32
Interval<Emitted> after_sum(const Interval<Emitted>& sum, const Interval<Emitted>& a, const Interval<Emitted>& b);
Interval<Emitted> after_product(const Interval<Emitted>& product, const Interval<Emitted>& a, const Interval<Emitted>& b);
Emitted corner(const Emitted& a, const Emitted& b);
Interval<Emitted> to_i64(const Interval<Emitted>& x);

}  // namespace attune::tensor_cores
