/// The logarithm of a sum of exponentials along a dim: what a softmax divides by, and what partial results of attention are merged by.
#pragma once

#include <cmath>
#include <limits>

#include "dsl/ops/softmax.h"

namespace attune {

/// ONNX ReduceLogSumExp, but of a row with +inf; L of FlashAttention-2 (Dao 2023).
struct LogSumExp {
  Name over;

  static constexpr std::string_view name = "log_sum_exp",
                                    meaning = "y = m + ln sum_k exp(x[.., k] - m), m = max_k x[.., k]; k along `over`; -inf for a row of -inf and over "
                                              "nothing; NaN or +inf in a row gives NaN, as in its softmax";
  static constexpr int arity = 1;
  static constexpr bool has_loop = true;
  static constexpr auto fields = std::tuple{Field{"over", &LogSumExp::over}};

  /// The type of x without `over`. Refuses a dim that x does not have, and kinds other than real.
  constexpr Checked infer(std::span<const Type> in) const {
    const Type type{Kind::real, in[0].dims.without({over})};
    if (Text problem = refuse_missing({over}, "runs over", "x", in[0]); !problem.empty()) return {type, problem};
    if (in[0].kind != Kind::real) return refuse(type, "x is ", in[0].kind, "; it must be real (to_real converts)");
    return {type, {}};
  }

  /// Those of its two parts, of which one may be the other's opposite: relative to the larger. The first may be the next power of 2, so that the other
  /// is ln(1/2) at least.
  double rounded_size(const DimExtents& extents, double result) const {
    return std::abs(result) + std::log(std::fmax(2.0, static_cast<double>(extents.at(over))));
  }
  static constexpr double roundings = 3;

  void reference(const DimExtents& extents, std::span<const Array> in, Array& out) const {
    const auto step = static_cast<std::size_t>(in[0].stride(over)), count = static_cast<std::size_t>(extents.at(over));
    Walk(out.type.dims, extents, {&in[0], &out}).run([&](auto at) {
      const auto x = [&](std::size_t j) { return in[0].data[at[0] + j * step]; };
      double greatest = -std::numeric_limits<double>::infinity();
      bool is_nan = false;
      for (std::size_t j = 0; j < count; ++j) {
        is_nan |= std::isnan(x(j)) || x(j) == std::numeric_limits<double>::infinity();
        greatest = x(j) > greatest ? x(j) : greatest;
      }
      double sum = 0;
      for (std::size_t j = 0; j < count; ++j) sum += x(j) == -std::numeric_limits<double>::infinity() ? 0 : std::exp(x(j) - greatest);
      out.data[at[1]] = is_nan ? std::numeric_limits<double>::quiet_NaN() : sum == 0 ? greatest : greatest + std::log(sum);
    });
  }
  constexpr void pull(auto& g) const { g.add(0, [&] { return g.out * softmax(g.in(0), g.dim(over)); }); }
};

constexpr Value log_sum_exp(Value x, Dim over, Here at = Here::current()) { return call(LogSumExp{over.name}, {x}, at); }

/// auto [weights, lse] = softmax_with_lse(scores, keys)
struct SoftmaxWithLse {
  Value weights, log_sum_exp;
};
/// Both of one pass over the scores: where a matmul sums over the weights, and where they are stored.
constexpr SoftmaxWithLse softmax_with_lse(Value scores, Dim over, Here at = Here::current()) {
  return {softmax(scores, over, at), log_sum_exp(scores, over, at)};
}

}  // namespace attune
