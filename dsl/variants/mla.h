/// Multi-head latent attention: keys and values of all heads are made of one short vector for each token, which is what a cache keeps.
#pragma once

#include "dsl/graph.h"

namespace attune {

/// Inputs q [batch, heads, queries, depth] and, rotated, q_rope [batch, heads, queries, rope]; latent [batch, keys, latent] and, rotated, k_rope
/// [batch, keys, rope], shared by all heads; wk [heads, depth, latent] and wv [heads, value_depth, latent]. The scale is that of keys of depth + rope
/// numbers, also where scores are computed from longer ones. Causal at the end: the last query sees all keys. DeepSeek-V2, 2024.
struct Mla {
  bool absorbed = false;  ///< wk is multiplied with queries and wv with the result: fewer bytes of few queries, more arithmetic of many. Else with each key

  static constexpr std::string_view name = "mla",
                                    meaning = "out = softmax((q k^T + q_rope k_rope^T) / sqrt(depth + rope), where j <= i + keys - queries) v, k = wk latent, v = wv latent; "
                                              "DeepSeek-AI 2024";
  static constexpr auto fields = std::tuple{Field{"absorbed", &Mla::absorbed}};

  constexpr void operator()(Graph& g) const {
    auto [batch, heads, queries, keys, depth, value_depth, width, rope] = g.dims("batch", "heads", "queries", "keys", "depth", "value_depth", "latent", "rope");
    const Value q = g.input("q", {batch, heads, queries, depth});
    const Value q_rope = g.input("q_rope", {batch, heads, queries, rope});
    const Value latent = g.input("latent", {batch, keys, width});
    const Value k_rope = g.input("k_rope", {batch, keys, rope});
    const Value wk = g.input("wk", {heads, depth, width});
    const Value wv = g.input("wv", {heads, value_depth, width});
    const Value product = absorbed ? matmul(matmul(q, wk, depth), latent, width) : matmul(q, matmul(latent, wk, width), depth);
    const Value scores = scale(product + matmul(q_rope, k_rope, rope), 1 / sqrt(extent(depth) + extent(rope)));
    const Value weights = softmax(mask(scores, index(keys) <= index(queries) + extent(keys) - extent(queries)), keys);
    const Value out = absorbed ? matmul(matmul(weights, latent, keys), wv, width) : matmul(weights, matmul(latent, wv, width), keys);
    g.output("out", out, {batch, heads, queries, value_depth});
  }
};

}  // namespace attune
