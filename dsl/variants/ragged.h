/// Attention in a batch of sequences of different lengths that lie one behind the other without padding.
#pragma once

#include "dsl/graph.h"

namespace attune {

/// Inputs q, k and v [queries, heads, ..], all sequences one behind the other; offsets i64 [offsets], ascending from 0 to the number of tokens: tokens
/// offsets[b] to before offsets[b + 1] are sequence b, as cu_seqlens of FlashAttention and indptr of FlashInfer say it. A query sees the keys of its
/// own sequence. With `cross` k and v are [keys, heads, ..] with sequences of other lengths, at key_offsets [offsets].
struct Ragged {
  bool causal = false;  ///< aligned at the end of each sequence: its last query sees all of its keys, each query before one less
  bool cross = false;   ///< k and v [keys, heads, ..], of sequences at key_offsets

  static constexpr std::string_view name = "ragged",
                                    meaning = "out = softmax(q k^T / sqrt(depth), where i and j are tokens of one sequence: offsets[b] <= i, j < offsets[b + 1]) v";
  static constexpr auto fields = std::tuple{Field{"causal", &Ragged::causal}, Field{"cross", &Ragged::cross}};

  constexpr void operator()(Graph& g) const {
    auto [queries, heads, keys, depth, value_depth, starts] = g.dims("queries", "heads", "keys", "depth", "value_depth", "offsets");
    const Dim rows = cross ? keys : queries;
    const Value q = g.input("q", {queries, heads, depth});
    const Value k = by_keys(g.input("k", {rows, heads, depth}), queries, keys);
    const Value v = by_keys(g.input("v", {rows, heads, value_depth}), queries, keys);
    const Value offsets = g.input("offsets", {starts}, Kind::i64);
    const Value key_offsets = cross ? g.input("key_offsets", {starts}, Kind::i64) : offsets;
    const Value of_query = sum(to_i64(offsets <= index(queries)), starts);  // which sequence, from 1
    const Value of_key = cross ? sum(to_i64(key_offsets <= index(keys)), starts) : rename(of_query, queries, keys);
    Value is_seen = of_query == of_key;
    if (causal && cross) is_seen = is_seen && left_of(offsets, queries, starts) <= left_of(key_offsets, keys, starts);
    else if (causal) is_seen = is_seen && index(keys) <= index(queries);
    const Value scores = mask(scale(matmul(q, k, depth), 1 / sqrt(extent(depth))), is_seen);
    g.output("out", matmul(softmax(scores, keys), v, keys), {queries, heads, value_depth});
  }

 private:
  constexpr Value by_keys(Value x, Dim queries, Dim keys) const { return cross ? x : rename(x, queries, keys); }
  /// How many tokens of its sequence follow each token, itself among them.
  static constexpr Value left_of(Value offsets, Dim tokens, Dim starts) {
    const Value is_behind = offsets > index(tokens);
    return -max(select(is_behind, -offsets, -(std::int64_t{1} << 40)), starts) - index(tokens);
  }
};

}  // namespace attune
