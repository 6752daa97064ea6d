/// constexpr_exp, constexpr_log, constexpr_sqrt, constexpr_pow: functions of doubles for graphs that are built while a program is compiled.
/// GCC has std::exp and its like as constants there; Clang, and the standard before C++26, have not.
#pragma once

#include <cstdint>
#include <limits>

namespace attune {

namespace detail {
inline constexpr double real_infinity = std::numeric_limits<double>::infinity(), real_nan = std::numeric_limits<double>::quiet_NaN();
/// ln 2 in two parts; products of the first, a double, with a whole number below 2^11 are exact in a long double.
inline constexpr long double ln2_upper = 0x1.62e42fefa39efp-1L, ln2_lower = 0x1.abc9e3b39803f2f6p-56L;

/// e^x for -746 <= x < 709.79.
constexpr long double exp_of(long double x) {
  const auto n = static_cast<int>(x * 1.4426950408889634L + (x < 0 ? -0.5L : 0.5L));
  const long double r = x - static_cast<long double>(n) * ln2_upper - static_cast<long double>(n) * ln2_lower;
  long double sum = 1;
  for (int term = 27; term > 0; --term) sum = 1 + sum * r / static_cast<long double>(term);
  for (int i = 0; i < n; ++i) sum *= 2;
  for (int i = 0; i > n; --i) sum /= 2;
  return sum;
}

/// ln x for finite x > 0, as 2 artanh((m - 1) / (m + 1)) + n ln 2 with x = 2^n m, m from 0.7 to 1.42.
constexpr long double log_of(long double m) {
  int n = 0;
  for (; m > 1.42L; ++n) m /= 2;
  for (; m < 0.7L; --n) m *= 2;
  const long double s = (m - 1) / (m + 1), s2 = s * s;
  long double sum = 0;
  for (int power = 41; power > 0; power -= 2) sum = sum * s2 + 1 / static_cast<long double>(power);
  return static_cast<long double>(n) * ln2_upper + (2 * s * sum + static_cast<long double>(n) * ln2_lower);
}

constexpr double exp_or_limit(long double x) {
  if (x > 709.782712893383973096L) return real_infinity;
  return x < -746 ? 0 : static_cast<double>(exp_of(x));
}

constexpr bool is_whole(double x) { return x >= 0x1p53 || x <= -0x1p53 || x == static_cast<double>(static_cast<std::int64_t>(x)); }
constexpr bool is_odd(double x) { return x < 0x1p53 && x > -0x1p53 && is_whole(x) && static_cast<std::int64_t>(x) % 2 != 0; }
}  // namespace detail

/// e^x within 1 ulp.
constexpr double constexpr_exp(double x) { return x != x ? x : detail::exp_or_limit(x); }

/// The natural logarithm of x within 1 ulp; -infinity at 0, NaN below.
constexpr double constexpr_log(double x) {
  if (x != x || x < 0) return detail::real_nan;
  if (x == 0) return -detail::real_infinity;
  return x == detail::real_infinity ? x : static_cast<double>(detail::log_of(x));
}

/// The square root of x within 1 ulp; NaN below 0.
constexpr double constexpr_sqrt(double x) {
  if (x != x || x < 0) return detail::real_nan;
  if (x == 0 || x == detail::real_infinity) return x;
  long double m = x, scale = 1;
  for (; m >= 4; scale *= 2) m /= 4;
  for (; m < 1; scale /= 2) m *= 4;
  long double root = (1 + m) / 2;
  for (int step = 0; step < 8; ++step) root = (root + m / root) / 2;
  return static_cast<double>(root * scale);
}

/// x to the power of y within 1 ulp, in special cases as std::pow but for the sign of zeros.
constexpr double constexpr_pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return detail::real_nan;
  if (y == detail::real_infinity || y == -detail::real_infinity) {
    const double size = x < 0 ? -x : x;
    return size == 1 ? 1 : (size > 1) == (y > 0) ? detail::real_infinity : 0;
  }
  if (x < 0 && x != -detail::real_infinity && !detail::is_whole(y)) return detail::real_nan;
  const double sign = x < 0 && detail::is_odd(y) ? -1 : 1;
  if (x == 0 || x == detail::real_infinity || x == -detail::real_infinity) return (x == 0) == (y > 0) ? 0 : sign * detail::real_infinity;
  return sign * detail::exp_or_limit(static_cast<long double>(y) * detail::log_of(x < 0 ? -x : x));
}

}  // namespace attune
