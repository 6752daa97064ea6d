/// Range: what an integer is known to lie in, for numbers of code that chooses between 32-bit and 64-bit arithmetic by it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace attune {

/// All integers from `low` to `high`. Ranges end where 64 bits do: beyond, integers of the language have no value.
struct Range {
  std::int64_t low = 0, high = 0;

  constexpr bool operator==(const Range&) const = default;
  constexpr bool is_single() const { return low == high; }
};
/// Of an index along a dim, whose extent is at most 2^30: the sum and the difference of two stay within 32 bits.
inline constexpr Range index_range{0, (1 << 30) - 1}, extent_range{0, 1 << 30};

namespace ranges {

inline constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(), greatest = std::numeric_limits<std::int64_t>::max();

constexpr std::int64_t sum(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? (a < 0 ? least : greatest) : result;
}
constexpr std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? ((a < 0) == (b < 0) ? greatest : least) : result;
}
constexpr std::int64_t negative(std::int64_t a) { return a == least ? greatest : -a; }
/// Rounded down, of a divisor that is not 0.
constexpr std::int64_t quotient(std::int64_t a, std::int64_t b) {
  if (b < 0) return quotient(negative(a), negative(b));
  return a / b - (a % b < 0 ? 1 : 0);
}

constexpr Range negative(Range a) { return {negative(a.high), negative(a.low)}; }
constexpr Range hull(Range a, Range b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }
/// Of an operation whose extreme results lie at the ends of its operands.
constexpr Range corners(Range a, Range b, std::int64_t (*operation)(std::int64_t, std::int64_t)) {
  const auto [low, high] = std::minmax({operation(a.low, b.low), operation(a.low, b.high), operation(a.high, b.low), operation(a.high, b.high)});
  return {low, high};
}
/// Of |a|.
constexpr Range magnitude(Range a) { return {std::max({a.low, negative(a.high), std::int64_t{0}}), std::max(a.high, negative(a.low))}; }
/// What bits of a and b, combined one by one, make: as wide as the wider of the two, and not negative if none is.
constexpr Range bits(Range a, Range b) {
  const std::int64_t most = std::max({a.high, b.high, -(a.low + 1), -(b.low + 1), std::int64_t{0}});
  std::int64_t ones = 1;
  while (ones < most) ones += ones + 1;
  return {a.low >= 0 && b.low >= 0 ? 0 : -ones - 1, ones};
}
/// Of the bits that both have: where one is not negative, the result is not either, and not above it.
constexpr Range common_bits(Range a, Range b) {
  Range range = bits(a, b);
  if (a.low >= 0 || b.low >= 0) range = {0, a.low < 0 ? b.high : b.low < 0 ? a.high : std::min(a.high, b.high)};
  return range;
}
inline constexpr Range shifts{0, 62};
/// b cut to what integers are shifted by.
constexpr Range shift_of(Range b) { return {std::clamp(b.low, shifts.low, shifts.high), std::clamp(b.high, shifts.low, shifts.high)}; }
constexpr std::int64_t shifted_left(std::int64_t a, std::int64_t b) { return product(a, std::int64_t{1} << b); }
constexpr std::int64_t shifted_right(std::int64_t a, std::int64_t b) { return a >> b; }
/// Whether a shift by b may be one in 32 bits.
constexpr bool is_narrow_shift(Range b) { return b.high < 32; }
constexpr bool fits_int32(Range a) { return std::numeric_limits<std::int32_t>::min() <= a.low && a.high <= std::numeric_limits<std::int32_t>::max(); }

}  // namespace ranges

}  // namespace attune
