/// bf16 as kernels hold it: the upper half of an f32, in an UInt(16). Halide's own type is emulated slowly, and wrong on GPUs.
#pragma once

#include <Halide.h>

namespace attune {

/// The number that the bits stand for, exactly.
Halide::Expr bf16_value(const Halide::Expr& bits);

/// The same of Halide's own type, which its patterns for sums of products of pairs want.
Halide::Expr number_of_bits(const Halide::Expr& bits);

/// Of two numbers side by side in memory the first (part 0) or the second (1): each takes one operation on the word that holds both.
Halide::Expr bf16_of_pair(const Halide::Expr& first_bits, const Halide::Expr& second_bits, const Halide::Expr& part);

/// The nearest bf16, ties to even; NaN stays NaN.
Halide::Expr bf16_bits(const Halide::Expr& value);

/// The nearest bf16 of a number that is not negative, ties up, in three operations; NaN stays NaN.
Halide::Expr bf16_bits_of_weight(const Halide::Expr& weight);

}  // namespace attune
