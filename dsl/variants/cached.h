/// Attention of new tokens over a key-value cache that they are written to: a step of decoding, or the prefill of a prompt.
#pragma once

#include "dsl/graph.h"

namespace attune {

/// A cache has room for `keys` tokens. The new ones have the positions position[b], position[b] + 1, ...; each sees itself and what stands before it
/// in the cache. Rows beyond the cache's end are not written: a caller counts. Inputs q [batch, heads, group, queries, depth], of which `group` query
/// heads share a head of keys and values (grouped_query); k and v [batch, heads, queries, ..]; k_cache and v_cache [batch, heads, keys, ..].
struct Cached {
  std::int64_t window = 0;  ///< each token sees itself and the window - 1 before it; 0: all

  static constexpr std::string_view name = "cached",
                                    meaning = "out = softmax(q k_cache^T / sqrt(depth), where j <= position[batch] + i, and j > position[batch] + i - window if there is one) "
                                              "v_cache, k and v having been written to k_cache and v_cache from row position[batch] on, in place";
  static constexpr auto fields = std::tuple{Field{"window", &Cached::window}};

  constexpr void operator()(Graph& g) const {
    g.require(window >= 0, "window is ", window, "; it must be at least 1, or 0 for none");
    auto [batch, heads, group, queries, keys, depth, value_depth] = g.dims("batch", "heads", "group", "queries", "keys", "depth", "value_depth");
    const Value q = g.input("q", {batch, heads, group, queries, depth});
    const Value k = g.input("k", {batch, heads, queries, depth});
    const Value v = g.input("v", {batch, heads, queries, value_depth});
    const Value k_cache = g.input("k_cache", {batch, heads, keys, depth});
    const Value v_cache = g.input("v_cache", {batch, heads, keys, value_depth});
    const Value position = g.input("position", {batch}, Kind::i64);
    const Value all_k = write_rows(k_cache, keys, k, queries, position);
    const Value all_v = write_rows(v_cache, keys, v, queries, position);
    const Value age = index(queries) + position - index(keys);
    const Value is_seen = window > 0 ? age >= 0 && age < window : age >= 0;
    const Value scores = mask(scale(matmul(q, all_k, depth), 1 / sqrt(extent(depth))), is_seen);
    g.output("out", matmul(softmax(scores, keys), all_v, keys), {batch, heads, group, queries, value_depth});
    g.output_in_place(k_cache, all_k);
    g.output_in_place(v_cache, all_v);
  }
};

}  // namespace attune
