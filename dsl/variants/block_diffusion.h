/// Attention for training block diffusion (Arriola et al. 2025, BD3-LM): noisy tokens in the first half, the clean ones in the second.
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

/// There are as many keys as queries, 2 * length of them. Noisy tokens see their own block and the clean blocks before it; clean tokens see
/// the clean blocks up to their own.
struct BlockDiffusion {
  std::int64_t block = 32;  ///< tokens that are made at once

  static constexpr std::string_view
      name = "block_diffusion",
      meaning =
          "out = softmax(q k^T / sqrt(depth), noisy i: own noisy block and clean blocks before; clean i: clean blocks up to "
          "its own) v; Arriola et al. 2025";
  static constexpr auto fields = std::tuple{Field{"block", &BlockDiffusion::block}};

  constexpr void operator()(Graph& g) const {
    g.require(block >= 1, "block is ", block, "; it must be at least 1");
    if (!g.problem().empty()) return;
    const Attention a(g);
    const Value length = floor_div(extent(a.queries), 2);
    const auto is_noisy = [&](Dim dim) { return index(dim) < length; };
    const auto block_of = [&](Dim dim) { return floor_div(select(is_noisy(dim), index(dim), index(dim) - length), block); };
    const Value own = block_of(a.queries), of_key = block_of(a.keys);
    const Value from_noisy = select(is_noisy(a.keys), of_key == own, of_key < own);
    a.output(mask(a.scores(), select(is_noisy(a.queries), from_noisy, !is_noisy(a.keys) && of_key <= own)));
  }
};

}  // namespace attune
