/// Attention whose weights are multiplied by a tensor behind the softmax, and not normalised again.
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

/// Input prob_weights [batch, heads, queries, keys].
struct ProbWeights {
  static constexpr std::string_view name = "prob_weights", meaning = "out = (prob_weights * softmax(q k^T / sqrt(depth))) v";
  static constexpr auto fields = std::tuple{};

  constexpr void operator()(Graph& g) const {
    const Attention a(g);
    a.output(softmax(a.scores(), a.keys) * g.input("prob_weights", {a.batch, a.heads, a.queries, a.keys}), a.v);
  }
};

}  // namespace attune
