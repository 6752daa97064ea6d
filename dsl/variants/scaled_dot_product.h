/// Attention as in "Attention Is All You Need": every query sees every key.
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

struct ScaledDotProduct {
  bool weights = false;  ///< a second output, weights [batch, heads, queries, keys]

  static constexpr std::string_view name = "scaled_dot_product", meaning = "out = softmax(q k^T / sqrt(depth)) v";
  static constexpr auto fields = std::tuple{Field{"weights", &ScaledDotProduct::weights}};

  constexpr void operator()(Graph& g) const {
    const Attention a(g);
    const Value p = softmax(a.scores(), a.keys);
    a.output(p, a.v);
    if (weights) g.output("weights", p, {a.batch, a.heads, a.queries, a.keys});
  }
};

}  // namespace attune
