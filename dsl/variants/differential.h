/// Differential attention: what two softmaxes have in common is taken away (Ye et al. 2024).
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

/// Inputs other_q, other_k of the types of q and k, and lambda [heads], the factor of the second softmax. (The paper's normalisation of each head and its
/// lambda from four vectors stand around it.)
struct Differential {
  bool causal = false;  ///< each query sees itself and the keys before it

  static constexpr std::string_view name = "differential",
                                    meaning = "out = (softmax(q k^T / sqrt(depth)) - lambda softmax(q' k'^T / sqrt(depth))) v; Ye et al. 2024";
  static constexpr auto fields = std::tuple{Field{"causal", &Differential::causal}};

  constexpr void operator()(Graph& g) const {
    const Attention a(g);
    const Value q = g.input("other_q", {a.batch, a.heads, a.queries, a.depth}), k = g.input("other_k", {a.batch, a.heads, a.keys, a.depth});
    const Value lambda = g.input("lambda", {a.heads});
    const auto weights = [&](Value s) { return softmax(causal ? mask(s, index(a.queries) >= index(a.keys)) : s, a.keys); };
    const Value others = scale(matmul(q, k, a.depth), 1 / sqrt(extent(a.depth)));
    a.output(weights(a.scores()) - lambda * weights(others), a.v);
  }
};

}  // namespace attune
