/// One vector for a sentence from those of its tokens.
#pragma once

#include "dsl/graph.h"

namespace sentence_similarity {

/// out[b] = the sum of x[b, t] over t < lengths[b], divided by its 2-norm; the division takes the place of that by the length too.
struct Pool {
  static constexpr std::string_view name = "pool";
  static constexpr auto fields = std::tuple{};

  constexpr void operator()(attune::Graph& g) const {
    auto [batch, tokens, model] = g.dims("batch", "tokens", "model");
    const attune::Value x = g.input("x", {batch, tokens, model});
    const attune::Value lengths = g.input("lengths", {batch}, attune::Kind::i64);
    const attune::Value total = sum(select(index(tokens) < lengths, x, 0), tokens);  // [batch, model]
    g.output("out", total / sqrt(sum(total * total, model)), {batch, model});
  }
};

}  // namespace sentence_similarity
