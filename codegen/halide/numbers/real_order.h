/// Reals as integers in the same order, for what must not depend on how comparisons of reals treat NaN.
#pragma once

#include <Halide.h>

#include <cstdint>

#include "codegen/halide/numbers/strict.h"

namespace attune {

inline constexpr std::int32_t all_but_sign = 0x7fffffff;

/// An integer in the order of the reals: with the bits of all but the sign turned where it is negative. NaN is the greatest, whatever its bits; -0 is
/// below 0.
inline Halide::Expr place_in_order(const Halide::Expr& x) {
  const Halide::Expr bits = Halide::reinterpret<std::int32_t>(x);
  return Halide::select(has_number_bits(x), Halide::select(bits < 0, bits ^ all_but_sign, bits), all_but_sign);
}
inline Halide::Expr real_at_place(const Halide::Expr& place) {
  return Halide::reinterpret<float>(Halide::select(place < 0, place ^ all_but_sign, place));
}

}  // namespace attune
