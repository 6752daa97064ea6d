/// The gradients of attention by queries, keys and values, for training.
#pragma once

#include "dsl/gradients.h"
#include "dsl/variants/attention.h"

namespace attune {

/// Input d_out [batch, heads, queries, value_depth]: what the loss changes by with each element of the result of `scaled_dot_product`, or of `causal`.
/// Results d_q, d_k and d_v have the dims of q, k and v. The weights are computed again, for a block of queries after the other, whose parts of d_k and d_v
/// are added up (Dao et al. 2022, algorithm 4, by rows). `gradients` gives the same of any other graph.
struct AttentionGradients {
  bool causal = false;  ///< query i sees the keys up to i

  static constexpr std::string_view name = "attention_gradients",
                                    meaning = "out = softmax(q k^T / sqrt(depth)) v; d_q, d_k, d_v = d(sum(d_out * out)) / d(q, k, v); Dao et al. 2022";
  static constexpr auto fields = std::tuple{Field{"causal", &AttentionGradients::causal}};

  constexpr void operator()(Graph& g) const {
    const Attention a(g);
    const Value d_out = g.input("d_out", {a.batch, a.heads, a.queries, a.value_depth});
    const Value scores = causal ? mask(a.scores(), index(a.keys) <= index(a.queries)) : a.scores();
    const Value out = matmul(softmax(scores, a.keys), a.v, a.keys);
    const auto [d_q, d_k, d_v] = gradients(out, d_out, a.q, a.k, a.v);
    g.output("d_q", d_q, {a.batch, a.heads, a.queries, a.depth});
    g.output("d_k", d_k, {a.batch, a.heads, a.keys, a.depth});
    g.output("d_v", d_v, {a.batch, a.heads, a.keys, a.value_depth});
  }
};

}  // namespace attune
