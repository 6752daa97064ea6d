#include "codegen/halide/numbers/f16.h"

#include "codegen/halide/numbers/words.h"

using Halide::Expr;

namespace attune {
namespace {

constexpr std::uint32_t exponents_apart = (127 - 15) << 23;  // of an f32 and an f16 of the same number, in an f32's bits
constexpr int digits_apart = 23 - 10;
constexpr std::uint32_t sign = 0x8000, infinite = 0x7c00, least_normal = 0x0400;

}  // namespace

Expr f16_value(const Expr& bits) {
  const Expr wide = Halide::cast<std::uint32_t>(bits), magnitude = wide & u32(sign - 1);
  // The exponent of what is infinite or NaN is the greatest of both.
  const Expr shift = Halide::select(magnitude >= u32(infinite), u32(2 * exponents_apart), u32(exponents_apart));
  const Expr normal = (magnitude << digits_apart) + shift;
  const Expr subnormal = Halide::reinterpret<std::uint32_t>(Halide::cast<float>(magnitude) * 0x1p-24f);
  return Halide::reinterpret<float>(Halide::select(magnitude < u32(least_normal), subnormal, normal) | ((wide & u32(sign)) << 16));
}

Expr f16_bits(const Expr& value) {
  const Expr bits = Halide::reinterpret<std::uint32_t>(value), magnitude = bits & u32(0x7fffffff);
  const Expr normal =
      (magnitude - u32(exponents_apart) + u32((1 << (digits_apart - 1)) - 1) + ((magnitude >> digits_apart) & u32(1))) >> digits_apart;
  // A step of 0.5 is 2^-24, as of subnormal numbers: the sum is rounded as they are.
  const Expr subnormal = Halide::reinterpret<std::uint32_t>(Halide::reinterpret<float>(magnitude) + 0.5f) - u32(0x3f000000);
  const Expr finite = Halide::select(magnitude < u32(exponents_apart + (1 << 23)), subnormal, normal);
  constexpr std::uint32_t first_infinite = 0x477ff000, nan = 0x7f800000;  // 65520, which is half a step beyond 65504; and what is above is NaN
  const Expr all =
      Halide::select(magnitude > u32(nan), u32(infinite | 0x0200), Halide::select(magnitude >= u32(first_infinite), u32(infinite), finite));
  return Halide::cast<std::uint16_t>(all | ((bits >> 16) & u32(sign)));
}

}  // namespace attune
