/// The functions and conversions of intervals, monotone ones by their ends. Of a logarithm or root of what may be negative nothing is
/// known, nor of a root's inverse at 0.
#pragma once

#include "dsl/interval.h"

namespace attune {

namespace detail {
template <class N>
constexpr auto may_be_negative(Interval<N> x) {
  return x.low < constant_like(x.low, 0);
}
/// A function with values from -1 to 1, that at the only member being `value`.
template <class N>
constexpr Interval<N> wave(Interval<N> argument, N value) {
  const auto is_wide = argument.low < argument.high, is_point = argument.low == argument.high;
  const N one = constant_like(value, 1);
  return unless(!(is_wide || is_point), after_function(Interval<N>{select(is_wide, -one, value), select(is_wide, one, value)}));
}
}  // namespace detail

template <class N>
constexpr Interval<N> exp(Interval<N> x) {
  using std::exp;
  return detail::after_function(Interval<N>{exp(x.low), exp(x.high)});
}
template <class N>
constexpr Interval<N> log(Interval<N> x) {
  using std::log;
  return detail::unless(detail::may_be_negative(x), detail::after_function(Interval<N>{log(x.low), log(x.high)}));
}
template <class N>
constexpr Interval<N> sqrt(Interval<N> x) {
  using std::sqrt;
  return detail::unless(detail::may_be_negative(x), detail::after_function(Interval<N>{sqrt(x.low), sqrt(x.high)}));
}
template <class N>
constexpr Interval<N> rsqrt(Interval<N> x) {
  return detail::unless(x.low <= constant_like(x.low, 0), detail::after_function(Interval<N>{rsqrt(x.high), rsqrt(x.low)}));
}
/// Of positive a, between the powers at the corners.
template <class N>
constexpr Interval<N> pow(Interval<N> a, Interval<N> b) {
  using std::pow;
  const N p = pow(a.low, b.low), q = pow(a.low, b.high), r = pow(a.high, b.low), s = pow(a.high, b.high);
  const Interval<N> corners{minimum(minimum(p, q), minimum(r, s)), maximum(maximum(p, q), maximum(r, s))};
  return detail::unless(a.low <= constant_like(a.low, 0), detail::after_function(corners));
}
template <class N>
constexpr Interval<N> tanh(Interval<N> x) {
  using std::tanh;
  return detail::after_function(Interval<N>{tanh(x.low), tanh(x.high)});
}
template <class N>
constexpr Interval<N> erf(Interval<N> x) {
  using std::erf;
  return detail::after_function(Interval<N>{erf(x.low), erf(x.high)});
}
template <class N>
constexpr Interval<N> sigmoid(Interval<N> x) {
  return detail::after_function(Interval<N>{sigmoid(x.low), sigmoid(x.high)});
}
template <class N>
constexpr Interval<N> sin(Interval<N> x) {
  using std::sin;
  return detail::wave(x, sin(x.low));
}
template <class N>
constexpr Interval<N> cos(Interval<N> x) {
  using std::cos;
  return detail::wave(x, cos(x.low));
}
template <class N>
constexpr Interval<N> floor(Interval<N> x) {
  using std::floor;
  return {floor(x.low), floor(x.high)};
}
template <class N>
constexpr auto to_real(Interval<N> x) {
  return Interval<decltype(to_real(x.low))>{to_real(x.low), to_real(x.high)};
}
/// An unknown end, which is NaN, converts to the least number; as the upper end it must become the largest.
template <class N>
constexpr auto to_i64(Interval<N> x) {
  if constexpr (std::is_same_v<N, bool>) return Interval<double>{to_i64(x.low), to_i64(x.high)};
  else return Interval<decltype(to_i64(x.low))>{to_i64(x.low), -to_i64(-x.high)};
}

}  // namespace attune
