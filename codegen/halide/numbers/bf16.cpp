#include "codegen/halide/numbers/bf16.h"

#include "codegen/halide/numbers/strict.h"

using Halide::Expr;
using Halide::Internal::Call;

namespace attune {
namespace {

Expr u32(std::uint32_t x) { return Halide::cast<std::uint32_t>(Expr(x)); }

/// The bits of bf16_value(bits), or an undefined expression.
Expr bits_of(const Expr& value) {
  const auto* number = value.as<Halide::Internal::Reinterpret>();
  if (number == nullptr || value.type() != Halide::Float(32)) return {};
  const auto* shifted = number->value.as<Call>();
  if (shifted == nullptr || !shifted->is_intrinsic(Call::shift_left) || !Halide::Internal::is_const(shifted->args[1], 16)) return {};
  const auto* wide = shifted->args[0].as<Halide::Internal::Cast>();
  return wide != nullptr && wide->value.type() == Halide::UInt(16) ? wide->value : Expr();
}

}  // namespace

Expr bf16_value(const Expr& bits) { return Halide::reinterpret<float>(Halide::cast<std::uint32_t>(bits) << 16); }

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

ScaledBf16 scaled_bf16(const Expr& value) {
  if (const Expr bits = bits_of(value); bits.defined()) return {bits, 1};
  const auto* product = value.as<Halide::Internal::Mul>();
  if (product == nullptr) return {};
  const auto factor = Halide::Internal::as_const_float(product->b);
  if (!factor) return {};
  return {bits_of(product->a), static_cast<float>(*factor)};
}

}  // namespace attune
