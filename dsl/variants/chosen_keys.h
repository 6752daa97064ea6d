/// Attention of each query to the keys of a list of its own (DeepSeek-AI 2025, sparse attention of V3.2).
#pragma once

#include "dsl/graph.h"

namespace attune {

/// Inputs q [batch, heads, group, queries, depth], k [batch, heads, keys, depth], v [batch, heads, keys, value_depth] as those of
/// grouped_query, chosen i64 [batch, queries, choices]: keys, each once; -1, or any that is none, chooses nothing. All heads share a
/// query's list. Only chosen keys and values are read. A product has the heads of a group as its rows: of many they are computed together.
struct ChosenKeys {
  static constexpr std::string_view name = "chosen_keys",
                                    meaning = "out = softmax(q k^T / sqrt(depth), where j is in chosen[batch, i]) v; DeepSeek-AI 2025";
  static constexpr auto fields = std::tuple{};

  constexpr void operator()(Graph& g) const {
    auto [batch, heads, group, queries, keys] = g.dims("batch", "heads", "group", "queries", "keys");
    auto [depth, value_depth, choices] = g.dims("depth", "value_depth", "choices");
    const Value q = g.input("q", {batch, heads, group, queries, depth});
    const Value k = g.input("k", {batch, heads, keys, depth});
    const Value v = g.input("v", {batch, heads, keys, value_depth});
    const Value chosen = g.input("chosen", {batch, queries, choices}, Kind::i64);
    const Value is_key = chosen >= 0 && chosen < extent(keys);
    const Value place = select(is_key, chosen, 0);
    const Value scores =
        scale(matmul(q, gather(k, place, keys), depth), 1 / sqrt(extent(depth)));  // [batch, heads, group, queries, choices]
    const Value values = select(is_key, gather(v, place, keys), 0);  // of no keys there is none to take
    g.output("out", matmul(softmax(mask(scores, is_key), choices), values, choices), {batch, heads, group, queries, value_depth});
  }
};

}  // namespace attune
