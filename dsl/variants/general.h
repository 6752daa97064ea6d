/// Attention with scores that a matrix makes of query and key, which may differ in width (Luong, Pham, Manning 2015, 'general').
#pragma once

#include "dsl/graph.h"

namespace attune {

/// Inputs q [batch, heads, queries, depth], k [batch, heads, keys, key_depth], v [batch, heads, keys, value_depth],
/// w [heads, depth, key_depth]; Luong's own has one head.
struct General {
  static constexpr std::string_view name = "general",
                                    meaning = "out = softmax(q^T w[h] k) v, not scaled; Luong, Pham, Manning 2015, 'general'";
  static constexpr auto fields = std::tuple{};

  constexpr void operator()(Graph& g) const {
    auto [batch, heads, queries, keys] = g.dims("batch", "heads", "queries", "keys");
    auto [depth, key_depth, value_depth] = g.dims("depth", "key_depth", "value_depth");
    const Value q = g.input("q", {batch, heads, queries, depth});
    const Value k = g.input("k", {batch, heads, keys, key_depth});
    const Value v = g.input("v", {batch, heads, keys, value_depth});
    const Value w = g.input("w", {heads, depth, key_depth});
    const Value scores = matmul(matmul(q, w, depth), k, key_depth);  // [batch, heads, queries, keys]
    g.output("out", matmul(softmax(scores, keys), v, keys), {batch, heads, queries, value_depth});
  }
};

}  // namespace attune
