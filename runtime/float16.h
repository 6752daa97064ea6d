/// float16: IEEE 754 binary16, as kernels store it.
#pragma once

#include <bit>
#include <cstdint>

namespace attune {

struct float16 {
  std::uint16_t bits = 0;

  constexpr float16() = default;
  /// Rounds to nearest, ties to even; from 65520 on to infinity. A NaN stays a NaN.
  constexpr explicit float16(float value) {
    const auto wide = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t size = wide & 0x7fffffffU;
    bits = static_cast<std::uint16_t>((wide >> 16U & 0x8000U) | rounded(size));
  }
  constexpr explicit operator float() const {
    const std::uint32_t exponent = bits >> 10U & 31U, fraction = bits & 1023U, sign = (bits & 0x8000U) << 16U;
    if (exponent == 0) return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(static_cast<float>(fraction) * 0x1p-24F));
    const std::uint32_t wide = exponent == 31 ? 0x7f800000U : (exponent + 112U) << 23U;
    return std::bit_cast<float>(sign | wide | fraction << 13U);
  }
  constexpr bool operator==(const float16& other) const { return float(*this) == float(other); }

 private:
  /// q = n / 2^places to nearest, ties to even.
  static constexpr std::uint32_t shifted(std::uint32_t n, std::uint32_t places) {
    return (n + (1U << (places - 1U)) - 1U + (n >> places & 1U)) >> places;
  }

  /// Of the bits of a float that is not negative.
  static constexpr std::uint32_t rounded(std::uint32_t size) {
    constexpr std::uint32_t infinite = 0x7f800000U, too_large = 0x477ff000U, least_normal = 0x38800000U, less_than_half_of_the_least = 0x33000000U;
    if (size > infinite) return 0x7e00U | (size >> 13U & 0x3ffU);
    if (size >= too_large) return 0x7c00U;
    if (size >= least_normal) return shifted(size - 0x38000000U, 13U);
    if (size < less_than_half_of_the_least) return 0;
    return shifted((size & 0x7fffffU) | 0x800000U, 126U - (size >> 23U));  // in units of 2^-24, the least
  }
};

static_assert(sizeof(float16) == 2);

}  // namespace attune
