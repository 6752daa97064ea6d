/// Additive attention (Bahdanau, Cho, Bengio 2015): a score is a small network of a query and a key.
#pragma once

#include "dsl/graph.h"

namespace attune {

/// Inputs q [batch, queries, depth], k [batch, keys, key_depth], v [batch, keys, value_depth], wq [hidden, depth],
/// wk [hidden, key_depth], wa [hidden].
struct Additive {
  bool weights = false;  ///< a second output, weights [batch, queries, keys]

  static constexpr std::string_view name = "additive",
                                    meaning = "out = softmax(s) v, s[i, j] = sum over hidden of wa * tanh(wq q[i] + wk k[j])";
  static constexpr auto fields = std::tuple{Field{"weights", &Additive::weights}};

  constexpr void operator()(Graph& g) const {
    auto [batch, queries, keys, hidden] = g.dims("batch", "queries", "keys", "hidden");
    auto [depth, key_depth, value_depth] = g.dims("depth", "key_depth", "value_depth");
    const Value q = g.input("q", {batch, queries, depth});
    const Value k = g.input("k", {batch, keys, key_depth});
    const Value v = g.input("v", {batch, keys, value_depth});
    const Value wq = g.input("wq", {hidden, depth});
    const Value wk = g.input("wk", {hidden, key_depth});
    const Value wa = g.input("wa", {hidden});
    const Value both = linear(q, wq, depth) + linear(k, wk, key_depth);  // [batch, queries, hidden, keys]
    const Value p = softmax(matmul(tanh(both), wa, hidden), keys);
    g.output("out", matmul(p, v, keys), {batch, queries, value_depth});
    if (weights) g.output("weights", p, {batch, queries, keys});
  }
};

}  // namespace attune
