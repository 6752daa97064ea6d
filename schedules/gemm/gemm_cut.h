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
  Halide::Expr blocks;        ///< of `lanes` elements each, that it has for one place of the other contracted dims
  Halide::Expr outer;         ///< places of these
  Halide::Expr own_products;  ///< those that read the same columns
  Halide::Expr products;      ///< all of the batch
  int rows, columns;          ///< of a tile
  int lanes;
  int row_block;              ///< most tiles of rows in a task
  bool can_slice;             ///< sums of a part of the contraction can wait in the result for the others
};

/// How many loops of which extent walk the tiles: spans of rows, parts of columns, and in these the tasks' blocks. Each is 1 at least.
struct PackedCut {
  Halide::Expr spans, span, row_blocks, height, parts, part, column_blocks, breadth;
  /// A long contraction is cut into slices of so many blocks, and of so many places of the other contracted dims. All tiles of a task take one slice
  /// before the next, so that a task's rows and a panel's columns of a slice stay in the second-level cache.
  Halide::Expr slices, slice, outer_slices, outer_slice;
};

/// `numbers` learns what its expressions stand for.
PackedCut cut_packed(const PackedTiles& tiles, std::vector<OpaqueNumber>& numbers);

}  // namespace attune
