/// Sums of products of bf16, two at a time.
#pragma once

#include <Halide.h>

#include <optional>

namespace attune {

/// Two bits of bf16 beside each other in one UInt(32), the first in its lower half.
Halide::Expr bf16_word(const Halide::Expr& first_bits, const Halide::Expr& second_bits);

/// sum + first of a * first of b + second of a * second of b, of words: an f32. What a loop nest stores of it may be for matrix_tiles.h.
Halide::Expr bf16_dot(const Halide::Expr& sum, const Halide::Expr& a, const Halide::Expr& b);

/// The arguments of bf16_dot, if the expression is one.
struct Bf16Dot {
  Halide::Expr sum, a, b;
};
std::optional<Bf16Dot> as_bf16_dot(const Halide::Expr& e);

/// The same in FMAs.
Halide::Expr by_fma(const Bf16Dot& dot);

/// Every bf16_dot becomes the instruction for it where the target has one, of vectors of 4, 8 or 16 sums (vdpbf16ps), else two FMAs. For statements
/// whose loops are vectors: a dot is made of scalars by its schedule's stage, and of vectors by Halide.
Halide::Internal::Stmt with_bf16_dots(const Halide::Internal::Stmt& s, const Halide::Target& target);

}  // namespace attune
