/// Vector functions on Float(32) expressions: no calls, right at 0, -0, infinities and NaN (whatever its bits) on every CPU target.
#pragma once

#include <Halide.h>

namespace attune {

/// 2^s for s <= 0 (up to rounding above 0), relative error below 2e-7; the exponential of a softmax's inner loop.
/// Exactly 0 below -127, also for -infinity; NaN stays NaN.
Halide::Expr softmax_exp2(const Halide::Expr& s);

/// The same with a relative error below 1.1e-4, a 35th of the distance of bf16 numbers at most, for weights that are rounded to bf16.
Halide::Expr softmax_exp2_for_bf16(const Halide::Expr& s);

/// Call them with the namespace: Halide has functions of the same names. An ulp is that of the exact result, rounded to f32.
namespace vector_math {

/// e^x within 2 ulp, results below 2^-126 included.
Halide::Expr exp(const Halide::Expr& x);
/// 2^x within 2 ulp, results below 2^-126 included.
Halide::Expr exp2(const Halide::Expr& x);
/// ln x within 2 ulp, also of x below 2^-126; -infinity at 0 and -0, NaN below.
Halide::Expr log(const Halide::Expr& x);
/// a to the power of b within 6 ulp, results below 2^-126 included; special cases as std::pow.
Halide::Expr pow(const Halide::Expr& a, const Halide::Expr& b);
/// tanh x within 4 ulp, never beyond -1 and 1.
Halide::Expr tanh(const Halide::Expr& x);
/// 1 / (1 + e^-x) within 4 ulp; 0 where that is below 2^-127.
Halide::Expr sigmoid(const Halide::Expr& x);
/// erf x within 4 ulp, never beyond -1 and 1.
Halide::Expr erf(const Halide::Expr& x);
/// sin x within 2 ulp for every finite x, NaN at infinities. Up to 2^20 it is fast; see codegen/halide/rewrites/rare_lanes.h.
Halide::Expr sin(const Halide::Expr& x);
/// cos x, likewise.
Halide::Expr cos(const Halide::Expr& x);
/// The larger of a and b, NaN if either is NaN. Of 0 and -0 it is -0.
Halide::Expr maximum(const Halide::Expr& a, const Halide::Expr& b);
/// The smaller of a and b, NaN if either is NaN.
Halide::Expr minimum(const Halide::Expr& a, const Halide::Expr& b);

}  // namespace vector_math
}  // namespace attune
