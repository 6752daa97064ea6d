/// What an interval is, what it needs of its number, and how ends are made of ends; the operations stand in dsl/interval.h.
#pragma once

#include <cmath>
#include <limits>

#include "dsl/number.h"

namespace attune {

/// Everything from `low` to `high`; infinite ends stand for unbounded, and on the side of an end that is NaN nothing is known:
/// two such ends hold NaN, too. As a truth value, `low` says certainly true and `high` possibly true.
/// Sound: what an operation gives on members that are not infinite is a member of its result.
template <class N>
struct Interval {
  N low, high;

  static constexpr Interval point(N x) { return {x, x}; }
};

// What N needs beside the language's operations, found by argument-dependent lookup: the next five functions.

/// `value` as a number of the kind of x.
constexpr double constant_like([[maybe_unused]] double x, double value) { return value; }
/// Whether a truth value is known, here and now, to be true.
constexpr bool is_certain(bool x) { return x; }
/// The share of itself by which the computed value of a function may be off or out of order; libm stays within some ulp.
constexpr double function_error(double) { return 0x1p-49; }
/// The sum or product of two intervals with its ends moved apart by as much as they may be off: by nothing, as IEEE rounding is monotone.
template <class N>
constexpr Interval<N> after_sum(Interval<N> sum, Interval<N>, Interval<N>) {
  return sum;
}
template <class N>
constexpr Interval<N> after_product(Interval<N> product, Interval<N>, Interval<N>) {
  return product;
}

constexpr bool minimum(bool a, bool b) { return a && b; }
constexpr bool maximum(bool a, bool b) { return a || b; }

namespace detail {
/// x with its ends moved apart by a share of themselves and a little more, but not across 0: errors do not change a sign.
template <class N>
constexpr Interval<N> widened(Interval<N> x, double share) {
  const N zero = constant_like(x.low, 0), less = constant_like(x.low, 1 - share), more = constant_like(x.low, 1 + share);
  const N little = constant_like(x.low, 0x1p-120);
  return {select(x.low < zero, x.low * more - little, maximum(x.low * less - little, zero)),
          select(x.high > zero, x.high * more + little, minimum(x.high * less + little, zero))};
}
template <class N>
constexpr Interval<N> after_function(Interval<N> x) {
  return widened(x, function_error(x.low));
}

/// From the least to the greatest of f at the corners; f grows with a where b is not negative.
template <class N, class F>
constexpr Interval<N> over_corners(Interval<N> a, Interval<N> b, F f) {
  const N low_low = f(a.low, b.low), low_high = f(a.low, b.high), high_low = f(a.high, b.low), high_high = f(a.high, b.high);
  const Interval<N> from_low = {minimum(low_low, low_high), maximum(low_low, low_high)};
  const Interval<N> from_high = {minimum(high_low, high_high), maximum(high_low, high_high)};
  if (is_certain(b.low >= constant_like(b.low, 0))) return {from_low.low, from_high.high};
  return {minimum(from_low.low, from_high.low), maximum(from_low.high, from_high.high)};
}
/// The product of two ends; 0 times unbounded is 0, because members are finite, and 0 times NaN is NaN.
template <class N>
constexpr N corner(N a, N b) {
  const N zero = constant_like(a, 0);
  return select(a == zero, minimum(maximum(b, -b), zero), select(b == zero, minimum(maximum(a, -a), zero), a * b));
}
template <class N>
constexpr auto has_zero(Interval<N> x) {
  const N zero = constant_like(x.low, 0);
  return x.low <= zero && x.high >= zero;
}
/// x, or nothing known where `is_unknown`.
template <class B, class N>
constexpr Interval<N> unless(B is_unknown, Interval<N> x) {
  const N nan = constant_like(x.low, std::numeric_limits<double>::quiet_NaN());
  return {select(is_unknown, nan, x.low), select(is_unknown, nan, x.high)};
}
}  // namespace detail

}  // namespace attune
