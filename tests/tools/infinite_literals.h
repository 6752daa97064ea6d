/// A variant with the arguments of `causal` that computes with literals which are infinite or NaN.
#pragma once

#include <limits>

#include "dsl/graph.h"

struct InfiniteLiterals {
  static constexpr std::string_view name = "infinite_literals";
  static constexpr auto fields = std::tuple{};

  constexpr void operator()(attune::Graph& g) const {
    auto [batch, heads, queries, keys, depth] = g.dims("batch", "heads", "queries", "keys", "depth");
    attune::Value q = g.input("q", {batch, heads, queries, depth});
    attune::Value k = g.input("k", {batch, heads, keys, depth});
    attune::Value v = g.input("v", {batch, heads, keys, depth});
    attune::Value greatest = max(mask(v, k > 0.5), keys);  // minus infinity without keys
    attune::Value scaled = q * select(q < 1, 2, std::numeric_limits<double>::quiet_NaN());
    g.output("out", mask(scaled, q > 0) + greatest, {batch, heads, queries, depth});
  }
};
