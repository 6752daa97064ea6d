/// Interval<N>: everything that a number may be. The analysis of masks computes with it, over double and over expressions.
#pragma once

#include "dsl/interval_ends.h"

namespace attune {

template <class N>
constexpr Interval<N> operator+(Interval<N> a, Interval<N> b) {
  return after_sum(Interval<N>{a.low + b.low, a.high + b.high}, a, b);
}
template <class N>
constexpr Interval<N> operator-(Interval<N> a, Interval<N> b) {
  return after_sum(Interval<N>{a.low - b.high, a.high - b.low}, a, -b);
}
template <class N>
constexpr Interval<N> operator-(Interval<N> a) {
  return {-a.high, -a.low};
}
template <class N>
constexpr Interval<N> operator*(Interval<N> a, Interval<N> b) {
  const auto product = detail::over_corners(a, b, [](N x, N y) {
    using detail::corner;
    return corner(x, y);
  });
  return after_product(product, a, b);
}
/// Of reals; nothing is known if b may be 0.
template <class N>
constexpr Interval<N> operator/(Interval<N> a, Interval<N> b) {
  const N one = constant_like(a.low, 1);
  const auto is_unknown = detail::has_zero(b);
  const Interval<N> inverse = {one / select(is_unknown, one, b.high), one / select(is_unknown, one, b.low)};
  return detail::unless(is_unknown, detail::after_function(a * inverse));
}
/// Of integers. The extreme quotients lie at the corners, or, if b goes through 0, at its members -1 and 1.
template <class N>
constexpr Interval<N> floor_div(Interval<N> a, Interval<N> b) {
  const auto passes_zero = detail::has_zero(b) && b.low < b.high;
  const Interval<N> corners = detail::over_corners(a, b, [](N x, N y) { return floor_div(x, y); });
  const N largest = maximum(a.high, -a.low);
  return {select(passes_zero, -largest, corners.low), select(passes_zero, largest, corners.high)};
}
/// Of integers. Exact if b is a single number: between two of its multiples, mod grows with a.
template <class N>
constexpr Interval<N> mod(Interval<N> a, Interval<N> b) {
  const N zero = constant_like(a.low, 0), one = constant_like(a.low, 1);
  const N first = floor_div(a.low, b.low), last = floor_div(a.high, b.low);
  const auto grows = b.low >= b.high && first >= last && last >= first;
  return {select(grows, mod(a.low, b.low), minimum(b.low + one, zero)), select(grows, mod(a.high, b.low), maximum(b.high - one, zero))};
}
namespace detail {
/// Of bits of integers, combined one by one: the result at the only members, or whatever is as wide as the wider.
template <class N>
constexpr Interval<N> of_bits(Interval<N> a, Interval<N> b, N at_point) {
  const N zero = constant_like(a.low, 0), one = constant_like(a.low, 1);
  const auto is_point = a.low >= a.high && b.low >= b.high, is_positive = a.low >= zero && b.low >= zero;
  const N most = maximum(maximum(a.high, -a.low), maximum(b.high, -b.low));
  const Interval<N> wider = Interval<N>::point(most) + Interval<N>::point(most) + Interval<N>::point(one);
  return {select(is_point, at_point, select(is_positive, zero, -wider.high)), select(is_point, at_point, wider.high)};
}
}  // namespace detail
template <class N>
constexpr Interval<N> bit_and(Interval<N> a, Interval<N> b) {
  return detail::of_bits(a, b, bit_and(a.low, b.low));
}
template <class N>
constexpr Interval<N> bit_or(Interval<N> a, Interval<N> b) {
  return detail::of_bits(a, b, bit_or(a.low, b.low));
}
template <class N>
constexpr Interval<N> bit_xor(Interval<N> a, Interval<N> b) {
  return detail::of_bits(a, b, bit_xor(a.low, b.low));
}
/// The extreme shifts lie at the corners.
template <class N>
constexpr Interval<N> shift_left(Interval<N> a, Interval<N> b) {
  const Interval<N> corners = detail::over_corners(a, b, [](N x, N y) { return shift_left(x, y); });
  return after_product(corners, a, Interval<N>::point(constant_like(a.low, 1)));
}
template <class N>
constexpr Interval<N> shift_right(Interval<N> a, Interval<N> b) {
  return detail::over_corners(a, b, [](N x, N y) { return shift_right(x, y); });
}
template <class N>
constexpr Interval<N> minimum(Interval<N> a, Interval<N> b) {
  return {minimum(a.low, b.low), minimum(a.high, b.high)};
}
template <class N>
constexpr Interval<N> maximum(Interval<N> a, Interval<N> b) {
  return {maximum(a.low, b.low), maximum(a.high, b.high)};
}
template <class N>
constexpr Interval<N> abs(Interval<N> x) {
  return {maximum(maximum(x.low, -x.high), constant_like(x.low, 0)), maximum(x.high, -x.low)};
}

template <class N>
constexpr auto operator<(Interval<N> a, Interval<N> b) {
  return Interval<decltype(a.low < b.low)>{a.high < b.low, !(a.low >= b.high)};
}
template <class N>
constexpr auto operator<=(Interval<N> a, Interval<N> b) {
  return Interval<decltype(a.low < b.low)>{a.high <= b.low, !(a.low > b.high)};
}
template <class N>
constexpr auto operator>(Interval<N> a, Interval<N> b) {
  return b < a;
}
template <class N>
constexpr auto operator>=(Interval<N> a, Interval<N> b) {
  return b <= a;
}
template <class N>
constexpr auto operator==(Interval<N> a, Interval<N> b) {
  return a <= b && b <= a;
}
template <class N>
constexpr auto operator!=(Interval<N> a, Interval<N> b) {
  return !(a == b);
}

template <class B>
constexpr Interval<B> operator&&(Interval<B> a, Interval<B> b) {
  return {a.low && b.low, a.high && b.high};
}
template <class B>
constexpr Interval<B> operator||(Interval<B> a, Interval<B> b) {
  return {a.low || b.low, a.high || b.high};
}
template <class B>
constexpr Interval<B> operator!(Interval<B> a) {
  return {!a.high, !a.low};
}
template <class B, class N>
constexpr Interval<N> select(Interval<B> c, Interval<N> a, Interval<N> b) {
  const Interval<N> either = {minimum(a.low, b.low), maximum(a.high, b.high)};
  return {select(c.low, a.low, select(c.high, either.low, b.low)), select(c.low, a.high, select(c.high, either.high, b.high))};
}

}  // namespace attune
