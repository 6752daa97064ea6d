/// Attention of a tree of guessed tokens behind a sequence, as speculative decoding verifies them (Miao et al. 2024, SpecInfer).
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

/// Input ancestors boolean [batch, queries, guesses]: true where a guess is the query's own or on its way to the root. The last keys are
/// the guesses; all queries see the keys before them.
struct Tree {
  static constexpr std::string_view
      name = "tree",
      meaning = "out = softmax(q k^T / sqrt(depth), where j < n or ancestors[batch, i, j - n]) v, n = keys - guesses; Miao et al. 2024";
  static constexpr auto fields = std::tuple{};

  constexpr void operator()(Graph& g) const {
    const Attention a(g);
    const Dim guesses = g.dim("guesses");
    const Value ancestors = g.input("ancestors", {a.batch, a.queries, guesses}, Kind::boolean);
    const Value guess = index(a.keys) - (extent(a.keys) - extent(guesses));  // [keys]
    a.output(mask(a.scores(), guess < 0 || gather(ancestors, guess, guesses)));
  }
};

}  // namespace attune
