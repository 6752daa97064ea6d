/// Attention of each query to the keys of a list of its own (DeepSeek-AI 2025, sparse attention of V3.2).
#pragma once

#include "dsl/graph.h"

namespace attune {

/// Inputs q [batch, heads, group, queries, depth], k [batch, heads, keys, depth], v [batch, heads, keys, value_depth] as those of
/// grouped_query, chosen i64 [batch, queries, choices]: keys, each once; -1, or any that is none, chooses nothing. All heads share a
/// query's list. Only chosen keys and values are read. A product has the heads of a group as its rows: of many they are computed together.
/// With `count` there is no such list: those keys are chosen that an indexer of a few narrow heads scores highest, I[i, j] = sum_n index_weights[i, n]
/// relu(index_q[i, n] index_k[j]^T), of inputs index_q [batch, queries, index_heads, index_depth], index_k [batch, keys, index_depth] and
/// index_weights [batch, queries, index_heads].
struct ChosenKeys {
  std::int64_t count = 0;  ///< keys that the indexer chooses for a query; 0: they are an input
  bool causal = false;     ///< of the chosen keys, and of those to choose from, a query sees itself and those before it

  static constexpr std::string_view name = "chosen_keys",
                                    meaning = "out = softmax(q k^T / sqrt(depth), where j is in chosen[batch, i]) v; DeepSeek-AI 2025";
  static constexpr auto fields = std::tuple{Field{"count", &ChosenKeys::count}, Field{"causal", &ChosenKeys::causal}};

  constexpr void operator()(Graph& g) const {
    g.require(count >= 0 && count <= TopK::most, "count is ", count, "; it must be from 0 to ", TopK::most);
    if (!g.problem().empty()) return;
    auto [batch, heads, group, queries, keys] = g.dims("batch", "heads", "group", "queries", "keys");
    auto [depth, value_depth] = g.dims("depth", "value_depth");
    const Dim choices = g.dim("choices", count);
    const Value q = g.input("q", {batch, heads, group, queries, depth});
    const Value k = g.input("k", {batch, heads, keys, depth});
    const Value v = g.input("v", {batch, heads, keys, value_depth});
    const Value chosen = count == 0 ? g.input("chosen", {batch, queries, choices}, Kind::i64) : top_k_positions(indexed(g), keys, count, choices);
    const Value is_there = chosen >= 0 && chosen < extent(keys), is_key = causal ? is_there && chosen <= index(queries) : is_there;
    const Value place = select(is_key, chosen, 0);
    const Value scores =
        scale(matmul(q, gather(k, place, keys), depth), 1 / sqrt(extent(depth)));  // [batch, heads, group, queries, choices]
    const Value values = select(is_key, gather(v, place, keys), 0);  // of no keys there is none to take
    g.output("out", matmul(softmax(mask(scores, is_key), choices), values, choices), {batch, heads, group, queries, value_depth});
  }

 private:
  /// I [batch, queries, keys].
  constexpr Value indexed(Graph& g) const {
    auto [batch, queries, keys, index_heads, index_depth] = g.dims("batch", "queries", "keys", "index_heads", "index_depth");
    const Value q = g.input("index_q", {batch, queries, index_heads, index_depth});
    const Value k = g.input("index_k", {batch, keys, index_depth});
    const Value weights = g.input("index_weights", {batch, queries, index_heads});
    const Value scores = matmul(maximum(matmul(q, k, index_depth), 0), weights, index_heads);
    return causal ? mask(scores, index(keys) <= index(queries)) : scores;
  }
};

}  // namespace attune
