/// What products of bf16 by instructions for them take.
#pragma once

#include <Halide.h>

namespace attune {

/// The operands where all are of bf16, or may be rounded to it: score = factor * sum of query * key, in base 2 where it is_base_2
/// (schedules/common/scores.h). Sums of products of pairs take them as they are.
struct Bf16Operands {
  Halide::Expr query, key, value;  ///< bits, at the coordinates of the panels
  Halide::Expr factor;             ///< the same for all
};

}  // namespace attune
