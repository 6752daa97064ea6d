/// The generalized delta rule of RWKV-7: of each token what the state holds for one vector is taken away along another, while each channel decays.
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

/// Inputs q (the paper's receptance r) [batch, heads, tokens, depth], k [batch, heads, tokens, depth], v [batch, heads, tokens, value_depth]; log_decay
/// [batch, heads, tokens, depth], the logarithm of the paper's w, which is between -0.61 and 0 there; removal [batch, heads, tokens, depth], the paper's
/// removal key, of length 1; rate [batch, heads, tokens, depth], the paper's in-context learning rate, between 0 and 1. The state here is the paper's
/// transposed: rows are channels of keys. A decay e^log_decay of 0 is NaN: the removal key is divided by it, as it asks the state before the decay.
struct GeneralizedDelta {
  bool state = false;  ///< another input, past_state, and another output, present_state, both [batch, heads, depth, value_depth]

  static constexpr std::string_view name = "generalized_delta",
                                    meaning = "out = S_t^T q_t of each token t, with S_t = (diag(e^log_decay_t) - (rate_t removal_t) removal_t^T) S_(t-1) + k_t v_t^T; "
                                              "Peng et al. 2025, RWKV-7";
  static constexpr auto fields = std::tuple{Field{"state", &GeneralizedDelta::state}};

  constexpr void operator()(Graph& g) const {
    auto [batch, heads, tokens, depth, value_depth] = g.dims("batch", "heads", "tokens", "depth", "value_depth");
    const Value q = g.input("q", {batch, heads, tokens, depth});
    const Value k = g.input("k", {batch, heads, tokens, depth});
    const Value v = g.input("v", {batch, heads, tokens, value_depth});
    const Value log_decay = g.input("log_decay", {batch, heads, tokens, depth});
    const Value removal = g.input("removal", {batch, heads, tokens, depth});
    const Value rate = g.input("rate", {batch, heads, tokens, depth});
    RecurrentParts parts{.log_decay = log_decay, .beta = 1, .asked = removal * exp(-log_decay), .erased = rate * removal};
    if (state) parts.initial = g.input("past_state", {batch, heads, depth, value_depth});
    const auto [result, last] = recurrence_with_state(q, k, v, parts, tokens, depth);
    g.output("out", result, {batch, heads, tokens, value_depth});
    if (state) g.output("present_state", last, {batch, heads, depth, value_depth});
  }
};

}  // namespace attune
