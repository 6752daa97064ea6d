/// The order in which threads take the tiles of queries of a stage.
#pragma once

#include <Halide.h>

namespace attune {

enum class TileOrder { first_to_last, last_to_first };

/// last_to_first where later tiles see more blocks of keys, so that the longest tasks do not come last: proven where `may_see`, a condition on the
/// numbers of a tile and of a block, never turns false as the tile's number grows, and never turns true as the block's does; and changes with both.
/// What memory says of a tile or a block proves nothing, and neither does a window, whose tiles see equally much.
TileOrder order_of_tiles(const Halide::Expr& may_see, const Halide::Var& query_tile, const Halide::Var& key_block);

}  // namespace attune
