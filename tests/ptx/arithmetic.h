/// What the instructions of PTX compute of bits, for the table in rules.cpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace attune::ptx::arithmetic {

template <class T>
T as(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

/// A rule's function from one of values: every operand is of the type T.
template <class T, auto function>
std::uint64_t of(const std::uint64_t* x) {
  if constexpr (std::is_invocable_v<decltype(function), T>) return bits_of(function(as<T>(x[0])));
  else if constexpr (std::is_invocable_v<decltype(function), T, T>) return bits_of(function(as<T>(x[0]), as<T>(x[1])));
  else return bits_of(function(as<T>(x[0]), as<T>(x[1]), as<T>(x[2])));
}

// Integers wrap around, so sums and products are those of numbers without signs.
constexpr auto add = [](auto a, auto b) { return static_cast<decltype(a)>(a + b); };
constexpr auto subtract = [](auto a, auto b) { return static_cast<decltype(a)>(a - b); };
constexpr auto multiply = [](auto a, auto b) { return static_cast<decltype(a)>(a * b); };
constexpr auto multiply_add = [](auto a, auto b, auto c) { return static_cast<decltype(a)>(a * b + c); };
constexpr auto divide = [](float a, float b) { return a / b; };
constexpr auto reciprocal = [](float a) { return 1 / a; };
/// .ftz: subnormal numbers are zeros, as an operand and as the result.
constexpr auto flushed = [](float a) { return std::abs(a) < std::numeric_limits<float>::min() ? std::copysign(0.F, a) : a; };
constexpr auto flushed_reciprocal = [](float a) { return flushed(1 / flushed(a)); };
constexpr auto fused = [](float a, float b, float c) { return std::fma(a, b, c); };
/// The machine's lies within 2 ulp. Operands and results below 2^-126 are 0.
constexpr auto power_of_2 = [](float a) { return flushed(std::exp2(flushed(a))); };
constexpr auto power_of_2_of_any = [](float a) { return std::exp2(a); };
constexpr auto both = [](auto a, auto b) { return static_cast<decltype(a)>(a & b); };
constexpr auto either = [](auto a, auto b) { return static_cast<decltype(a)>(a | b); };
constexpr auto one_of_both = [](auto a, auto b) { return static_cast<decltype(a)>(a ^ b); };
constexpr auto inverse = [](auto a) { return static_cast<decltype(a)>(~a); };
constexpr auto least = [](auto a, auto b) { return a < b ? a : b; };
constexpr auto greatest = [](auto a, auto b) { return a > b ? a : b; };
constexpr auto same = [](auto a) { return a; };
constexpr auto negative = [](auto a) { return -a; };

/// Of numbers a and b; the other one where one is NaN.
constexpr auto least_number = [](float a, float b) { return std::fmin(a, b); };
constexpr auto greatest_number = [](float a, float b) { return std::fmax(a, b); };
/// NaN where one is NaN.
constexpr auto least_or_nan = [](float a, float b) { return std::isnan(a) || std::isnan(b) ? a + b : std::fmin(a, b); };
constexpr auto greatest_or_nan = [](float a, float b) { return std::isnan(a) || std::isnan(b) ? a + b : std::fmax(a, b); };
/// The first operand's sign on the second.
constexpr auto with_sign = [](float a, float b) { return std::copysign(b, a); };
constexpr auto size_of_real = [](float a) { return std::fabs(a); };
constexpr auto size_of_integer = [](auto a) { return a < 0 ? static_cast<decltype(a)>(-static_cast<std::make_unsigned_t<decltype(a)>>(a)) : a; };

/// The machine gives some number where b is zero, and INT_MIN / -1 is too large: kernels divide by neither.
constexpr auto quotient = [](auto a, auto b) {
  using T = decltype(a);
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return static_cast<T>(-static_cast<std::make_unsigned_t<T>>(a));
  return b == 0 ? static_cast<T>(~T{0}) : static_cast<T>(a / b);
};
constexpr auto remainder_of = [](auto a, auto b) {
  using T = decltype(a);
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return T{0};
  return b == 0 ? a : static_cast<T>(a % b);
};

template <class Wide, class Narrow>
std::uint64_t multiply_wide(const std::uint64_t* x) {
  return bits_of(static_cast<Wide>(as<Narrow>(x[0])) * static_cast<Wide>(as<Narrow>(x[1])));
}
template <class Wide, class Narrow>
std::uint64_t multiply_high(const std::uint64_t* x) {
  return bits_of(static_cast<Narrow>(static_cast<Wide>(as<Narrow>(x[0])) * static_cast<Wide>(as<Narrow>(x[1])) >> 8 * sizeof(Narrow)));
}

/// Shifts by all bits and more give 0, or the sign.
constexpr auto shift_left = [](std::uint32_t a, std::uint32_t by) { return by > 31 ? 0U : a << by; };
template <class T>
constexpr T shift_right(T a, std::uint32_t by) {
  return by >= 8 * sizeof a ? T{0} : a >> by;
}
inline std::uint64_t shift_right_signed(const std::uint64_t* x) { return bits_of(as<std::int32_t>(x[0]) >> std::min(as<std::uint32_t>(x[1]), 31U)); }
inline std::uint64_t shift_left_wide(const std::uint64_t* x) { return as<std::uint32_t>(x[1]) > 63 ? 0 : x[0] << x[1]; }
/// The high half of b:a shifted left by the low five bits of c.
constexpr auto funnel_left = [](std::uint32_t a, std::uint32_t b, std::uint32_t c) { return c % 32 == 0 ? b : b << c % 32 | a >> (32 - c % 32); };

/// So many bits (third operand) of the first from a place on (second), of which both the low eight bits count.
template <class T>
std::uint64_t field(const std::uint64_t* x) {
  const T shifted = shift_right<T>(as<T>(x[0]), as<std::uint32_t>(x[1]) & 255);
  const std::uint32_t count = as<std::uint32_t>(x[2]) & 255;
  return count >= 8 * sizeof shifted ? shifted : shifted & ((T{1} << count) - 1);
}

/// The same with the sign of its last bit, or of the number's where the field reaches beyond it; 0 of no bits.
template <class T>
std::uint64_t signed_field(const std::uint64_t* x) {
  constexpr std::uint32_t highest = 8 * sizeof(T) - 1;
  const T bits = as<T>(x[0]);
  const std::uint32_t first = as<std::uint32_t>(x[1]) & 255, count = as<std::uint32_t>(x[2]) & 255;
  if (count == 0) return 0;
  const std::uint32_t last = std::min(first + count - 1, highest);
  const T signs = (bits >> last & 1) != 0 ? static_cast<T>(~T{0}) : T{0};
  const std::uint32_t kept = first > highest ? 0 : last - first + 1;
  if (kept > highest) return bits;
  const T low = static_cast<T>((T{1} << kept) - 1);
  return static_cast<T>((kept == 0 ? T{0} : static_cast<T>(bits >> first) & low) | (signs & static_cast<T>(~low)));
}

inline std::uint64_t select(const std::uint64_t* x) { return x[2] != 0 ? x[0] : x[1]; }

/// Comparisons of reals with NaN are false, but for "not equal or unordered".
template <class T, auto compare>
std::uint64_t whether(const std::uint64_t* x) {
  return compare(as<T>(x[0]), as<T>(x[1])) ? 1 : 0;
}
constexpr auto is_equal = [](auto a, auto b) { return a == b; };
constexpr auto is_other = [](auto a, auto b) { return a < b || a > b; };
constexpr auto is_other_or_unordered = [](auto a, auto b) { return !(a == b); };
constexpr auto is_less = [](auto a, auto b) { return a < b; };
constexpr auto is_less_or_equal = [](auto a, auto b) { return a <= b; };
constexpr auto is_greater = [](auto a, auto b) { return a > b; };
constexpr auto is_greater_or_equal = [](auto a, auto b) { return a >= b; };
constexpr auto is_unordered = [](float a, float b) { return std::isnan(a) || std::isnan(b); };
constexpr auto is_ordered = [](float a, float b) { return !std::isnan(a) && !std::isnan(b); };

}  // namespace attune::ptx::arithmetic
