/// The loss of a language model whose last layer gives a logit for each word: the logits of all words are never stored.
#pragma once

#include "dsl/graph.h"

namespace attune {

/// Inputs x [tokens, features], weight [words, features], as nn.Linear has it, and target i64 [tokens]; output out [tokens], the losses, natural
/// logarithms. A token whose target is below 0, as PyTorch's ignore_index of -100, has a loss of 0; targets from the number of words on are not allowed.
struct CrossEntropy {
  double cap = 0;    ///< above 0, logits are cap * tanh(logit / cap), as Gemma 2 has them
  bool lse = false;  ///< another output, lse [tokens]: the logarithm of the sum over all words, of which z-losses are made

  static constexpr std::string_view name = "cross_entropy",
                                    meaning = "out = ln sum_w exp(x . weight_w) - x . weight_target; Wijmans et al. 2024 (Cut Cross-Entropy)";
  static constexpr auto fields = std::tuple{Field{"cap", &CrossEntropy::cap}, Field{"lse", &CrossEntropy::lse}};

  constexpr void operator()(Graph& g) const {
    g.require(cap >= 0, "cap is ", cap, "; it must be at least 0, and 0 caps nothing");
    if (!g.problem().empty()) return;
    auto [tokens, words, features] = g.dims("tokens", "words", "features");
    const Value x = g.input("x", {tokens, features}), weight = g.input("weight", {words, features}), target = g.input("target", {tokens}, Kind::i64);
    const auto capped = [&](Value logit) { return cap > 0 ? tanh(logit * (1 / cap)) * cap : logit; };
    const Value all = log_sum_exp(capped(matmul(x, weight, features)), words);
    const Value own = capped(sum(x * gather(weight, maximum(target, 0), words), features));
    g.output("out", select(target < 0, 0, all - own), {tokens});
    if (lse) g.output("lse", all, {tokens});
  }
};

}  // namespace attune
