/// bfloat16: the upper half of an f32, as kernels store it.
#pragma once

#include <bit>
#include <cstdint>

namespace attune {

struct bfloat16 {
  std::uint16_t bits = 0;

  constexpr bfloat16() = default;
  /// Rounds to nearest, ties to even; a NaN stays a NaN.
  constexpr explicit bfloat16(float value) {
    const auto wide = std::bit_cast<std::uint32_t>(value);
    const bool is_nan = (wide & 0x7fffffffU) > 0x7f800000U;
    const std::uint32_t rounded = wide + 0x7fffU + ((wide >> 16U) & 1U);
    bits = static_cast<std::uint16_t>(is_nan ? (wide >> 16U) | 0x40U : rounded >> 16U);
  }
  constexpr explicit operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U); }
  constexpr bool operator==(const bfloat16& other) const { return float(*this) == float(other); }
};

static_assert(sizeof(bfloat16) == 2);

}  // namespace attune
