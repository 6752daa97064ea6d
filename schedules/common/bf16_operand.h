/// Operands of products that are multiplied as bf16.
#pragma once

#include <Halide.h>

#include <optional>

#include "codegen/halide/bodies/stage.h"

namespace attune {

/// An element as bits of bf16, times a factor that is the same of all elements.
struct Bf16Operand {
  Halide::Expr bits, factor;
};

/// The piece's element at the coordinates: one of a tensor of bf16, or any that may be rounded to it, as `products` says. None of others.
std::optional<Bf16Operand> bf16_operand(const Piece& piece, const Coordinates& at, Element products);

/// The factor of a sum of so many terms, 0 of none: one that follows from extents may be infinite there.
Halide::Expr factor_of_sum(const Halide::Expr& factor, const Halide::Expr& terms);

}  // namespace attune
