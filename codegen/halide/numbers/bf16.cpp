#include "codegen/halide/numbers/bf16.h"

#include "codegen/halide/numbers/strict.h"
#include "codegen/halide/numbers/words.h"

using Halide::Expr;

namespace attune {

Expr bf16_value(const Expr& bits) { return Halide::reinterpret<float>(Halide::cast<std::uint32_t>(bits) << 16); }

Expr number_of_bits(const Expr& bits) { return Halide::cast<float>(Halide::reinterpret(Halide::BFloat(16), bits)); }

Expr bf16_of_pair(const Expr& first_bits, const Expr& second_bits, const Expr& part) {
  const Expr word = Halide::concat_bits({first_bits, second_bits});
  return Halide::reinterpret<float>(Halide::select(part == 0, word << 16, word & u32(0xffff0000)));
}

Expr bf16_bits(const Expr& value) {
  const Expr bits = Halide::reinterpret<std::uint32_t>(value);
  const Expr rounded = (bits + u32(0x7fff) + ((bits >> 16) & u32(1))) >> 16;
  return Halide::cast<std::uint16_t>(Halide::select(strict_equal(value, value), rounded, u32(0x7fc0)));
}

Expr bf16_bits_of_weight(const Expr& weight) {
  const Expr largest_nan = u32(0x7fff0000);  // of any larger one the sum would wrap to a number
  return Halide::cast<std::uint16_t>((min(Halide::reinterpret<std::uint32_t>(weight), largest_nan) + u32(0x8000)) >> 16);
}

}  // namespace attune
