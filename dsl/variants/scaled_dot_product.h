/// Attention as in "Attention Is All You Need": every query sees every key.
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

struct ScaledDotProduct {
  bool scaled = true;    ///< without, the scores are q k^T as they are (Luong, Pham, Manning 2015, 'dot')
  bool weights = false;  ///< another output, weights [batch, heads, queries, keys]
  bool lse = false;      ///< another output, lse [batch, heads, queries]: the logarithm of what the softmax divides by

  static constexpr std::string_view name = "scaled_dot_product", meaning = "out = softmax(q k^T / sqrt(depth)) v";
  static constexpr auto fields = std::tuple{Field{"scaled", &ScaledDotProduct::scaled}, Field{"weights", &ScaledDotProduct::weights},
                                            Field{"lse", &ScaledDotProduct::lse}};

  constexpr void operator()(Graph& g) const {
    const Attention a(g);
    const Value scores = scaled ? a.scores() : matmul(a.q, a.k, a.depth), p = softmax(scores, a.keys);
    a.output(p, a.v);
    if (weights) g.output("weights", p, {a.batch, a.heads, a.queries, a.keys});
    if (lse) a.output_lse(scores);
  }
};

}  // namespace attune
