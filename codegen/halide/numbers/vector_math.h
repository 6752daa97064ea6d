/// Vector functions on Float(32) expressions: no calls, right at 0, -0, infinities and NaN (whatever its bits) on every CPU target.
#pragma once

#include <Halide.h>

namespace attune {

/// The least power of two that a weight has which only multiplies values: smaller ones are 0. Beside the largest weight of its row it is nothing, and
/// its product with a value above 2^-25 is no number below 2^-126, which some CPUs take a hundred cycles over.
inline constexpr int least_weight = -101;

/// 2^s for s <= 0 (up to rounding above 0), relative error below 2e-7; the exponential of a softmax's inner loop.
/// Exactly 0 where it is below 2^(least + 0.5), also for -infinity; NaN stays NaN. No number on its way is below 2^-126. `least` is -126 or more.
Halide::Expr softmax_exp2(const Halide::Expr& s, int least = -126);

/// The bits of the same, rounded to bf16 behind a relative error below 1.1e-4, a 35th of the distance of bf16 numbers at most. Exactly 0 where it is
/// below 2^(least + 1). It takes s - 0.5, whatever subtracts the half: rounding then is no operation, but that the upper half of an f32 is taken.
Halide::Expr softmax_exp2_as_bf16(const Halide::Expr& s_less_half, int least);

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
/// 1 / (1 + e^-x) within 4 ulp; 0 where that is below 2^-126.
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
