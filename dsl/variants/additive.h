/// Additive attention (Bahdanau, Cho, Bengio 2015): a score is a small network of a query and a key.
#pragma once

#include "dsl/graph.h"

namespace attune {

/// Inputs q [batch, queries, depth], k [batch, keys, key_depth], v [batch, keys, value_depth], wq [hidden, depth],
/// wk [hidden, key_depth], wa [hidden]; a bias behind wa would move all scores of a query alike, and no weight.
struct Additive {
  bool weights = false;  ///< a second output, weights [batch, queries, keys]
  bool biases = false;   ///< inputs bq, bk [hidden]; of a layer with one bias b the other is zeros
  bool lengths = false;  ///< input lengths i64 [batch]: the keys of each sequence; what follows is padding

  static constexpr std::string_view name = "additive",
                                    meaning = "out = softmax(s) v, s[i, j] = sum over hidden of wa * tanh(wq q[i] + wk k[j])";
  static constexpr auto fields =
      std::tuple{Field{"weights", &Additive::weights}, Field{"biases", &Additive::biases}, Field{"lengths", &Additive::lengths}};

  constexpr void operator()(Graph& g) const {
    auto [batch, queries, keys, hidden] = g.dims("batch", "queries", "keys", "hidden");
    auto [depth, key_depth, value_depth] = g.dims("depth", "key_depth", "value_depth");
    const Value q = g.input("q", {batch, queries, depth});
    const Value k = g.input("k", {batch, keys, key_depth});
    const Value v = g.input("v", {batch, keys, value_depth});
    const Value wq = g.input("wq", {hidden, depth});
    const Value wk = g.input("wk", {hidden, key_depth});
    const Value wa = g.input("wa", {hidden});
    const auto projected = [&, has_bias = biases](Value x, Value w, Name bias, Dim over) {
      return has_bias ? linear(x, w, g.input(bias, {hidden}), over) : linear(x, w, over);
    };
    const Value query_part = projected(q, wq, "bq", depth), key_part = projected(k, wk, "bk", key_depth);
    Value scores = matmul(tanh(query_part + key_part), wa, hidden);  // the sum is [batch, queries, hidden, keys]
    if (lengths) scores = mask(scores, index(keys) < g.input("lengths", {batch}, Kind::i64));
    const Value p = softmax(scores, keys);
    g.output("out", matmul(p, v, keys), {batch, queries, value_depth});
    if (weights) g.output("weights", p, {batch, queries, keys});
  }
};

}  // namespace attune
