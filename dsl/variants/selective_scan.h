/// The selective state space of Mamba: a recurrence whose decay is another for each channel and each of its states.
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

/// Inputs x and step (the paper's Delta before its softplus) [batch, tokens, channels]; a [states, channels], the transpose of Mamba's -exp(A_log), so that
/// channels lie side by side, where what is above 0 counts as 0; b and c [batch, tokens, states]; skip (Mamba's D) [channels]; with gate z [batch, tokens, channels].
struct SelectiveScan {
  bool gate = false;   ///< the result is multiplied by silu(z)
  bool state = false;  ///< another input, past_state, and another output, present_state, both [batch, states, channels]

  static constexpr std::string_view name = "selective_scan",
                                    meaning = "out = sum over states of c_t h_t + skip x_t of each token t, with h_t = e^(d_t a) h_(t-1) + d_t b_t x_t, d = softplus(step); "
                                              "Gu & Dao 2023, Mamba";
  static constexpr auto fields = std::tuple{Field{"gate", &SelectiveScan::gate}, Field{"state", &SelectiveScan::state}};

  constexpr void operator()(Graph& g) const {
    auto [batch, tokens, channels, states] = g.dims("batch", "tokens", "channels", "states");
    const Value x = g.input("x", {batch, tokens, channels});
    const Value step = softplus(g.input("step", {batch, tokens, channels}));
    const Value a = minimum(g.input("a", {states, channels}), 0);
    const Value b = g.input("b", {batch, tokens, states});
    const Value c = g.input("c", {batch, tokens, states});
    const Value skip = g.input("skip", {channels});
    RecurrentParts parts{.log_decay = step * a};
    if (state) parts.initial = g.input("past_state", {batch, states, channels});
    const auto [read, last] = recurrence_with_state(c, b, step * x, parts, tokens, states);
    const Value result = read + skip * x;
    g.output("out", gate ? result * silu(g.input("z", {batch, tokens, channels})) : result, {batch, tokens, channels});
    if (state) g.output("present_state", last, {batch, states, channels});
  }
};

}  // namespace attune
