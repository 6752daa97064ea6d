/// Running sums along a dim.
#pragma once

#include <cmath>

#include "dsl/ops/reduce.h"

namespace attune {

/// ONNX CumSum, from the first position on; reverse_cumulative_sum is that from the last.
struct CumulativeSum {
  Name over;
  bool exclusive = false;

  static constexpr std::string_view name = "cumulative_sum",
                                    meaning = "y[.., j] = sum of x[.., i] with i <= j, or with `exclusive` i < j; i, j along `over`. A row is walked once, from its first "
                                              "element to its last";
  static constexpr int arity = 1;
  static constexpr bool has_loop = true, is_walk = true;
  static constexpr auto fields = std::tuple{Field{"over", &CumulativeSum::over}, Field{"exclusive", &CumulativeSum::exclusive}};

  /// The type of x. Refuses a dim that x does not have, and booleans.
  constexpr Checked infer(std::span<const Type> in) const { return {{in[0].kind, in[0].dims}, refuse_elements("sums along", {over}, in[0])}; }
  void reference(const DimExtents& extents, std::span<const Array> in, Array& out) const {
    rounded_reference(extents, in, out, [](double x, double) { return x; });
  }
  /// Each addition may be off by a rounding of what it gives.
  void rounded_reference(const DimExtents& extents, std::span<const Array> in, Array& out, auto rounded) const {
    const auto step = static_cast<std::size_t>(in[0].stride(over)), own = static_cast<std::size_t>(out.stride(over));
    const auto count = static_cast<std::size_t>(extents.at(over));
    Walk(out.type.dims.without({over}), extents, {&in[0], &out}).run([&](auto at) {
      double sum = 0;
      for (std::size_t j = 0; j < count; ++j) {
        const double next = sum + in[0].data[at[0] + j * step], before = sum;
        sum = rounded(next, std::abs(next));
        out.data[at[1] + j * own] = exclusive ? before : sum;
      }
    });
  }
  constexpr void pull(auto& g) const { g.add(0, [&] { return reverse_cumulative_sum(g.out, g.dim(over), exclusive); }); }
};

/// cumulative_sum(lengths, batch)   cumulative_sum(lengths, batch, true): where each sequence of a packed batch begins
constexpr Value cumulative_sum(Value x, Dim over, bool exclusive = false, Here at = Here::current()) {
  return call(CumulativeSum{over.name, exclusive}, {x}, at);
}

}  // namespace attune
