/// The functions that operations need of a number, for the interpreter's double.
/// Other numbers (Interval, Lowered) bring their own, found by argument-dependent lookup.
#pragma once

#include <cmath>
#include <cstdint>

namespace attune {

/// c ? a : b.
constexpr double select(bool c, double a, double b) { return c ? a : b; }
constexpr bool select(bool c, bool a, bool b) { return c ? a : b; }

/// a if a < b else b; NaN if either is NaN.
constexpr double minimum(double a, double b) { return a != a ? a : (b != b ? b : (b < a ? b : a)); }
/// a if a > b else b; NaN if either is NaN.
constexpr double maximum(double a, double b) { return a != a ? a : (b != b ? b : (a < b ? b : a)); }
/// The largest integer not above a / b; 0 where b is 0, as in Halide. Up to |a| = 2^53 the quotient cannot round up to an integer: one that
/// is none is at least 1 / |b| away from it, and its rounding error is below |a / b| / 2^53.
constexpr double floor_div(double a, double b) { return b == 0 ? 0 : std::floor(a / b); }
/// a - floor_div(a, b) * b: the sign of b; 0 where b is 0, as in Halide. That product may be beyond 2^53; the remainder of fmod is exact.
constexpr double mod(double a, double b) {
  const double rest = b == 0 ? 0 : std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest + 0.0;
}
namespace detail {
constexpr std::int64_t bits_of(double x) { return static_cast<std::int64_t>(x); }
/// 2^b, b from 0 to 62.
constexpr double power_of_two(double b) { return static_cast<double>(std::int64_t{1} << (b < 0 ? 0 : b > 62 ? 62 : bits_of(b))); }
}  // namespace detail
/// The bits of whole numbers, which are below 2^63 in size.
constexpr double bit_and(double a, double b) { return static_cast<double>(detail::bits_of(a) & detail::bits_of(b)); }
constexpr double bit_or(double a, double b) { return static_cast<double>(detail::bits_of(a) | detail::bits_of(b)); }
constexpr double bit_xor(double a, double b) { return static_cast<double>(detail::bits_of(a) ^ detail::bits_of(b)); }
/// a * 2^b and floor(a / 2^b), b cut to 0 to 62.
constexpr double shift_left(double a, double b) { return a * detail::power_of_two(b); }
inline double shift_right(double a, double b) { return std::floor(a / detail::power_of_two(b)); }
/// 1 / sqrt(x).
inline double rsqrt(double x) { return 1 / std::sqrt(x); }
/// 1 / (1 + exp(-x)).
inline double sigmoid(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
/// The number as a real: a truth value gives 0 or 1.
constexpr double to_real(double x) { return x; }
constexpr double to_real(bool x) { return x ? 1.0 : 0.0; }
/// The number rounded towards zero, from -2^62 to 2^62; NaN gives -2^62, a truth value 0 or 1.
constexpr double to_i64(double x) {
  constexpr double limit = 0x1p62;
  return x > -limit ? (x < limit ? std::trunc(x) : limit) : -limit;
}
constexpr double to_i64(bool x) { return x ? 1.0 : 0.0; }

}  // namespace attune
