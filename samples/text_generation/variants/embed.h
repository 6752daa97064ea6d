/// What the first layer gets.
#pragma once

#include "weight.h"

namespace text_generation {

/// x[t] = the column ids[t] of the embedding. Inputs ids i64 [tokens] and the embedding [vocabulary_block, block, lane, vocabulary_lane] as
/// variants/weight.h has weights; output x [tokens, block, lane].
struct Embed {
  Blocks blocks = Blocks::none;

  static constexpr std::string_view name = "embed";
  static constexpr auto fields = std::tuple{attune::Field{"blocks", &Embed::blocks}};

  constexpr void operator()(attune::Graph& g) const {
    auto [tokens, vocabulary_block, block, lane, vocabulary_lane] = g.dims("tokens", "vocabulary_block", "block", "lane", "vocabulary_lane");
    const attune::Value ids = g.input("ids", {tokens}, attune::Kind::i64);
    const Weight of_x{g, blocks, {lane, g.dim("part")}};
    const attune::Value embedding =
        of_x.input({"embedding", "embedding_scales", "embedding_minima", "embedding_quants"}, {vocabulary_block, block}, vocabulary_lane);
    const attune::Value columns = gather(embedding, floor_div(ids, extent(vocabulary_lane)), vocabulary_block);  // [tokens, block, lane, vocabulary_lane]
    g.output("x", of_x.whole(gather(columns, mod(ids, extent(vocabulary_lane)), vocabulary_lane)), {tokens, block, lane});
  }
};

}  // namespace text_generation
