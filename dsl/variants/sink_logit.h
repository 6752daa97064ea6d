/// Attention with a logit of each head that takes weight and has no value (GPT-OSS), or with 1 more in the softmax's divisor (Miller 2023).
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

/// Input sink [heads, one], the logit that stands beside the scores of every query; one is 1.
struct SinkLogit {
  bool learned = true;  ///< otherwise there is no input, and the logit is 0: softmax off by one
  bool causal = false;  ///< each query sees itself and the keys before it, and the sink

  static constexpr std::string_view name = "sink_logit",
                                    meaning = "out = sum_j exp(s[i, j]) / (exp(sink[h]) + sum_k exp(s[i, k])) v, s = q k^T / sqrt(depth)";
  static constexpr auto fields = std::tuple{Field{"learned", &SinkLogit::learned}, Field{"causal", &SinkLogit::causal}};

  constexpr void operator()(Graph& g) const {
    const Attention a(g);
    const Dim one = g.dim("one", 1), all = g.dim("all");
    const Value sink = learned ? g.input("sink", {a.heads, one}) : to_real(index(one));
    const Value scores = causal ? mask(a.scores(), index(a.queries) >= index(a.keys)) : a.scores();
    const Value weights = softmax(concat({{scores, a.keys}, {sink, one}}, all), all);
    a.output(gather(weights, index(a.keys), all), a.v);
  }
};

}  // namespace attune
