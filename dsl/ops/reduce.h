/// Reductions over one or several dims: sum and maximum.
#pragma once

#include <limits>

#include "dsl/number.h"
#include "dsl/ops/matmul.h"

namespace attune {

/// Empty, or the sentence about a dim that x does not have, or about booleans.
constexpr Text refuse_elements(std::string_view verb, const Names& over, const Type& x) {
  if (Text problem = refuse_missing(over, verb, "x", x); !problem.empty()) return problem;
  if (x.kind != Kind::real && x.kind != Kind::i64 && x.kind != Kind::i32)
    return sentence("x is ", x.kind, "; it must be real, i64 or i32 (to_real and to_i64 convert)");
  return {};
}

/// The dims of x without `over`. Refuses what refuse_elements does.
constexpr Checked infer_reduction(const Names& over, const Type& x) {
  return {{x.kind, x.dims.without(over)}, refuse_elements("reduces over", over, x)};
}

struct ReduceSum {
  Names over;

  static constexpr std::string_view name = "reduce_sum", meaning = "y = sum of x over `over`; 0 over nothing";
  static constexpr int arity = 1;
  static constexpr bool has_loop = true, is_sum_of_products = true;
  static constexpr auto fields = std::tuple{Field{"over", &ReduceSum::over}};
  constexpr Checked infer(std::span<const Type> in) const { return infer_reduction(over, in[0]); }
  void reference(const DimExtents& extents, std::span<const Array> in, Array& out) const {
    Walk(in[0].type.dims, extents, {&in[0], &out}).run([&](auto at) { out.data[at[1]] += in[0].data[at[0]]; });
  }
  constexpr void pull(auto& g) const { g.add(0, [&] { return g.spread(g.out, over); }); }
};

struct ReduceMax {
  Names over;

  static constexpr std::string_view name = "reduce_max",
                                    meaning = "y = maximum of x over `over`, NaN if one is; over nothing -inf, or an integer's lowest";
  static constexpr int arity = 1;
  static constexpr bool has_loop = true;
  static constexpr auto fields = std::tuple{Field{"over", &ReduceMax::over}};
  constexpr Checked infer(std::span<const Type> in) const { return infer_reduction(over, in[0]); }
  void reference(const DimExtents& extents, std::span<const Array> in, Array& out) const {
    out.data.assign(out.data.size(), lowest(out.type.kind));
    Walk(in[0].type.dims, extents, {&in[0], &out}).run([&](auto at) { out.data[at[1]] = maximum(out.data[at[1]], in[0].data[at[0]]); });
  }
  /// The maximum over nothing.
  static constexpr double lowest(Kind kind) {
    if (kind == Kind::real) return -std::numeric_limits<double>::infinity();
    return kind == Kind::i64 ? -9223372036854775808.0 : -2147483648.0;
  }
  /// Shared by all elements that are the maximum.
  constexpr void pull(auto& g) const {
    g.add(0, [&] {
      const auto is_greatest = select(g.in(0) == g.y, 1.0, 0.0);
      return g.out / g.sum(is_greatest, over) * is_greatest;
    });
  }
};

constexpr Value sum(Value x, Dim over, Here at = Here::current()) { return call(ReduceSum{{over.name}}, {x}, at); }
constexpr Value sum(Value x, std::initializer_list<Dim> over, Here at = Here::current()) {
  return call(ReduceSum{names_of(over)}, {x}, at);
}
constexpr Value max(Value x, Dim over, Here at = Here::current()) { return call(ReduceMax{{over.name}}, {x}, at); }
constexpr Value max(Value x, std::initializer_list<Dim> over, Here at = Here::current()) {
  return call(ReduceMax{names_of(over)}, {x}, at);
}

}  // namespace attune
