/// How the tiles of a packed product become loops and tasks.
#pragma once

#include <Halide.h>

#include <vector>

#include "codegen/halide/bodies/stage.h"

namespace attune {

/// What is cut: each expression is 1 at least, but for tiles of an extent of 0.
struct PackedTiles {
  Halide::Expr row_tiles, column_tiles;
  Halide::Expr over;          ///< elements of a packed row or column
  Halide::Expr own_products;  ///< those that read the same columns
  Halide::Expr products;      ///< all of the batch
  int rows, columns;          ///< of a tile
  int row_block;              ///< most tiles of rows in a task
};

/// How many loops of which extent walk the tiles: spans of rows, parts of columns, and in these the tasks' blocks. Each is 1 at least.
struct PackedCut {
  Halide::Expr spans, span, row_blocks, height, parts, part, column_blocks, breadth;
};

/// `numbers` learns what its expressions stand for.
PackedCut cut_packed(const PackedTiles& tiles, std::vector<OpaqueNumber>& numbers);

}  // namespace attune
