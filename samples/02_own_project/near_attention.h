/// Attention in a window: each query sees itself and the `window - 1` keys before it.
#pragma once

#include "dsl/graph.h"

struct NearAttention {
  std::int64_t window = 256;

  static constexpr std::string_view name = "near_attention";
  static constexpr auto fields = std::tuple{attune::Field{"window", &NearAttention::window}};

  constexpr void operator()(attune::Graph& g) const {
    g.require(window >= 1, "window is ", window, "; it must be at least 1");
    auto [heads, queries, keys, depth] = g.dims("heads", "queries", "keys", "depth");
    attune::Value q = g.input("q", {heads, queries, depth});
    attune::Value k = g.input("k", {heads, keys, depth});
    attune::Value v = g.input("v", {heads, keys, depth});
    attune::Value age = index(queries) - index(keys);
    attune::Value scores = mask(scale(matmul(q, k, depth), 1 / sqrt(extent(depth))), age >= 0 && age < window);
    g.output("out", matmul(softmax(scores, keys), v, keys), {heads, queries, depth});
  }
};
