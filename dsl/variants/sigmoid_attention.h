/// Attention whose weights are sigmoids of the scores: no key takes anything from another (Ramapuram et al. 2024).
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

struct SigmoidAttention {
  double bias = 0;          ///< b, added to every score
  bool key_bias = false;    ///< -ln(keys) is added, too, as in the paper: the weights of a row then add up to about 1
  bool causal = false;      ///< each query sees itself and the keys before it

  static constexpr std::string_view name = "sigmoid_attention",
                                    meaning = "out = sum_j sigmoid(q k^T / sqrt(depth) + b) v; Ramapuram et al. 2024";
  static constexpr auto fields = std::tuple{Field{"bias", &SigmoidAttention::bias}, Field{"key_bias", &SigmoidAttention::key_bias},
                                            Field{"causal", &SigmoidAttention::causal}};

  constexpr void operator()(Graph& g) const {
    const Attention a(g);
    Value scores = a.scores();
    if (bias != 0) scores = scores + bias;
    if (key_bias) scores = scores - log(to_real(extent(a.keys)));
    const Value weights = sigmoid(scores);
    a.output(causal ? a.causal(weights) : weights, a.v);
  }
};

}  // namespace attune
