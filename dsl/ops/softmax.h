/// Softmax along a dim (dsl/ops/joint_softmax.h: over several).
#pragma once

#include <cmath>
#include <limits>

#include "dsl/ops/matmul.h"

namespace attune {

struct Softmax {
  Name over;

  static constexpr std::string_view name = "softmax",
                                    meaning = "y[.., j] = exp(x[.., j] - m) / sum_k exp(x[.., k] - m), m = max_k x[.., k]; j, k along "
                                              "`over`; a row of -inf gives zeros, NaN or +inf in a row gives NaN";
  static constexpr int arity = 1;
  static constexpr bool has_loop = true;
  static constexpr auto fields = std::tuple{Field{"over", &Softmax::over}};

  /// The type of x. Refuses a dim that x does not have, and kinds other than real.
  constexpr Checked infer(std::span<const Type> in) const {
    const Type type{Kind::real, in[0].dims};
    if (Text problem = refuse_missing({over}, "runs over", "x", in[0]); !problem.empty()) return {type, problem};
    if (in[0].kind != Kind::real) return refuse(type, "x is ", in[0].kind, "; it must be real (to_real converts)");
    return {type, {}};
  }

  /// Those of an exponential, of a total of as many positive terms, and of a quotient.
  double roundings(const DimExtents& extents) const { return 5 + std::sqrt(static_cast<double>(extents.at(over)) / 3); }

  void reference(const DimExtents& extents, std::span<const Array> in, Array& out) const {
    const auto step = static_cast<std::size_t>(out.stride(over));
    const auto count = static_cast<std::size_t>(extents.at(over));
    Walk(out.type.dims.without({over}), extents, {&out}).run([&](auto at) {
      double greatest = -std::numeric_limits<double>::infinity();
      bool has_nan = false;
      for (std::size_t j = 0; j < count; ++j) {
        const double x = in[0].data[at[0] + j * step];
        has_nan |= std::isnan(x) || x == std::numeric_limits<double>::infinity();
        greatest = x > greatest ? x : greatest;
      }
      double sum = 0;
      for (std::size_t j = 0; j < count; ++j) {
        const std::size_t here = at[0] + j * step;
        const bool is_hidden = in[0].data[here] == -std::numeric_limits<double>::infinity();
        out.data[here] = has_nan ? std::numeric_limits<double>::quiet_NaN() : is_hidden ? 0 : std::exp(in[0].data[here] - greatest);
        sum += out.data[here];
      }
      for (std::size_t j = 0; j < count; ++j)
        if (sum != 0) out.data[at[0] + j * step] /= sum;
    });
  }
  constexpr void pull(auto& g) const { g.add(0, [&] { return g.y * (g.out - g.sum(g.y * g.out, {over})); }); }
};

constexpr Value softmax(Value x, Dim over, Here at = Here::current()) { return call(Softmax{over.name}, {x}, at); }

}  // namespace attune
