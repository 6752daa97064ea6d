/// Attention with scores that a tanh keeps between -cap and cap.
#pragma once

#include <limits>

#include "dsl/variants/attention.h"

namespace attune {

struct SoftCap {
  double cap = 30;                         ///< no score is beyond it; Gemma 2 takes 50
  bool causal = false;                     ///< each query sees itself and the keys before it
  ScoreOutput scores = ScoreOutput::none;  ///< another output, scores [batch, heads, queries, keys]: which they are

  static constexpr std::string_view name = "soft_cap",
                                    meaning = "out = softmax(cap * tanh(s / cap)) v, s = q k^T / sqrt(depth)";
  static constexpr auto fields = std::tuple{Field{"cap", &SoftCap::cap}, Field{"causal", &SoftCap::causal}, Field{"scores", &SoftCap::scores}};

  constexpr void operator()(Graph& g) const {
    g.require(cap > 0 && cap < std::numeric_limits<double>::infinity(), "cap is ", cap, "; it must be above 0 and finite");
    const Attention a(g);
    const Value scaled = a.scores(), capped = cap * tanh(scaled / cap);
    a.output({scaled, capped, causal ? mask(capped, index(a.queries) >= index(a.keys)) : capped}, scores);
  }
};

}  // namespace attune
