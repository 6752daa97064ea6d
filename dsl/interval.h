/// Interval<N>: everything that a number may be; what the analysis of masks computes with, over double or an expression.
#pragma once

#include <cmath>
#include <limits>

#include "dsl/number.h"

namespace attune {

/// Everything from `low` to `high`. As a truth value: `low` says certainly true, `high` possibly true.
/// Every operation is sound: its result holds what it gives on any members of its operands. Infinite ends stand for unbounded.
template <class N>
struct Interval {
  N low, high;

  static constexpr Interval point(N x) { return {x, x}; }
  constexpr bool operator==(const Interval&) const requires false;
};

// What a number N needs beside its arithmetic: these four, found by argument-dependent lookup.

/// `value` as a number of the kind of x.
constexpr double constant_like(double, double value) { return value; }
/// Whether it is known here and now to be true.
constexpr bool is_certain(bool x) { return x; }
/// x widened by what the ends of sums and products may be off: nothing for double, since IEEE rounding is monotone.
template <class N>
constexpr Interval<N> after_arithmetic(Interval<N> x) { return x; }
/// x widened by `relative` and a little: by more than functions (here libm's) are off and out of order.
template <class N>
constexpr Interval<N> widened(Interval<N> x, double relative) {
  const N zero = constant_like(x.low, 0), less = constant_like(x.low, 1 - relative), more = constant_like(x.low, 1 + relative);
  const N little = constant_like(x.low, 0x1p-120);
  return {x.low * select(x.low < zero, more, less) - little, x.high * select(x.high < zero, less, more) + little};
}
constexpr Interval<double> after_function(Interval<double> x) { return widened(x, 0x1p-49); }

}  // namespace attune
