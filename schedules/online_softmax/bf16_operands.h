/// What products of bf16 by instructions for them take.
#pragma once

#include <Halide.h>

namespace attune {

/// The operands where all are tensors of bf16: product = factor * sum of query * key. Sums of products of pairs take them as they are.
struct Bf16Operands {
  Halide::Expr query, key, value;  ///< bits, at the coordinates of the panels
  float factor = 1;
};

}  // namespace attune
