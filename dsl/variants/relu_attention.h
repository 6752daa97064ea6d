/// Attention whose weights are the positive scores, over the number of keys (Wortsman et al. 2023), or their squares (Hua et al. 2022).
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

struct ReluAttention {
  bool squared = false;  ///< weights are relu(s)^2
  bool causal = false;   ///< each query sees itself and the keys before it; the divisor stays the number of all keys

  static constexpr std::string_view name = "relu_attention",
                                    meaning = "out = sum_j relu(q k^T / sqrt(depth)) v / keys; Wortsman et al. 2023";
  static constexpr auto fields = std::tuple{Field{"squared", &ReluAttention::squared}, Field{"causal", &ReluAttention::causal}};

  constexpr void operator()(Graph& g) const {
    const Attention a(g);
    const Value positive = maximum(a.scores(), 0), weights = squared ? positive * positive : positive;
    // without keys the sum is 0, and so is the result
    const Value sums = matmul(causal ? a.causal(weights) : weights, a.v, a.keys) / to_real(maximum(extent(a.keys), 1));
    g.output("out", sums, {a.batch, a.heads, a.queries, a.value_depth});
  }
};

}  // namespace attune
