/// What follows the last layer.
#pragma once

#include "weight.h"

namespace text_generation {

/// logits = n(x) embedding, n the norm by the root of the mean square: the weights of the tokens that may come next are those that embed them. Inputs
/// x [tokens, block, lane], the norm's weight [block, lane], the embedding as Embed has it; output logits [tokens,
/// vocabulary_block, vocabulary_lane].
struct Logits {
  Blocks blocks = Blocks::none;
  double epsilon = 1e-5;

  static constexpr std::string_view name = "logits";
  static constexpr auto fields = std::tuple{attune::Field{"blocks", &Logits::blocks}, attune::Field{"epsilon", &Logits::epsilon}};

  constexpr void operator()(attune::Graph& g) const {
    auto [tokens, block, lane, vocabulary_block, vocabulary_lane] = g.dims("tokens", "block", "lane", "vocabulary_block", "vocabulary_lane");
    const attune::Value x = g.input("x", {tokens, block, lane});
    const attune::Value norm = g.input("norm", {block, lane});
    const Weight of_x{g, blocks, {lane, g.dim("part")}};
    const attune::Value embedding =
        of_x.input({"embedding", "embedding_scales", "embedding_minima", "embedding_quants"}, {vocabulary_block, block}, vocabulary_lane);
    g.output("logits", of_x.times(rms_norm(x, norm, {block, lane}, epsilon), embedding, {block}), {tokens, vocabulary_block, vocabulary_lane});
  }
};

}  // namespace text_generation
