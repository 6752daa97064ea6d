/// Vector functions on Float(32) expressions: no calls, right at 0, infinities and NaN, on every CPU target.
#pragma once

#include <Halide.h>

namespace attune {

/// 2^s for s <= 0 (up to rounding above 0), relative error below 2e-7; the exponential of a softmax's inner loop.
/// Exactly 0 below -127, also for -infinity; NaN stays NaN, whatever its bits.
Halide::Expr softmax_exp2(const Halide::Expr& s);

}  // namespace attune
