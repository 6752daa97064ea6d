/// What the first layer of the encoder gets.
#pragma once

#include "layer_norm.h"

namespace sentence_similarity {

/// out[b, t] = norm(words[ids[b, t]] + positions[t] + type). The table of positions may have more rows than there are tokens.
struct Embed {
  static constexpr std::string_view name = "embed";
  static constexpr auto fields = std::tuple{};

  constexpr void operator()(attune::Graph& g) const {
    auto [batch, tokens, model, vocabulary, places] = g.dims("batch", "tokens", "model", "vocabulary", "places");
    const attune::Value ids = g.input("ids", {batch, tokens}, attune::Kind::i32);
    const attune::Value word = gather(g.input("words", {vocabulary, model}), ids, vocabulary);            // [batch, tokens, model]
    const attune::Value position = gather(g.input("positions", {places, model}), index(tokens), places);  // [tokens, model]
    const attune::Value type = g.input("type", {model});
    g.output("out", layer_norm(g, word + position + type, model, "norm_weight", "norm_bias"), {batch, tokens, model});
  }
};

}  // namespace sentence_similarity
