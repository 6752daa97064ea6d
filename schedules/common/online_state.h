/// The running state of an online softmax (Milakov & Gimelshein 2018; with the products' sum, as in FlashAttention-2, Dao 2023), in base 2.
#pragma once

#include <Halide.h>

namespace attune {

/// 2^n for whole n <= 0, exactly 0 where a weight would be (vector_math.h: least_weight). What comes out for NaN multiplies sums that are NaN.
Halide::Expr whole_power(const Halide::Expr& n);

/// What two states become when they are merged: the reference, and what the sums of each are multiplied by.
///   m = max(m_a, m_b)   a = 2^(m_a - m)   b = 2^(m_b - m)
struct StateMerge {
  StateMerge(const Halide::Expr& reference_a, const Halide::Expr& reference_b);
  Halide::Expr reference, scale_a, scale_b;
  /// a x_a + b x_b, for sums of either state.
  Halide::Expr of(const Halide::Expr& sum_a, const Halide::Expr& sum_b) const { return sum_a * scale_a + sum_b * scale_b; }
};

/// The state of some keys, whose scores are s_j and values v_j. That of no key is (0, lowest float, 0).
struct OnlineState {
  Halide::Expr sum;        ///< o = sum_j 2^(s_j - m) v_j
  Halide::Expr reference;  ///< m >= max_j s_j, whole, so that powers of differences are exact
  Halide::Expr total;      ///< l = sum_j 2^(s_j - m)

  static OnlineState of_no_key();
  explicit OnlineState(const Halide::FuncRef& stored) : OnlineState(stored[0], stored[1], stored[2]) {}
  OnlineState(Halide::Expr o, Halide::Expr m, Halide::Expr l);
  Halide::Tuple tuple() const { return {sum, reference, total}; }

  /// The factor that its sums have under a reference that is not less than its own.
  Halide::Expr scale_under(const Halide::Expr& larger) const { return whole_power(reference - larger); }
};

/// The state of the keys of both.
OnlineState merged(const OnlineState& a, const OnlineState& b);

}  // namespace attune
