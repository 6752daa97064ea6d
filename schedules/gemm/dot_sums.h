/// Sums of products whose operands both lie along the contraction: each is a vector until its end.
#pragma once

#include <Halide.h>

#include <functional>
#include <vector>

#include "schedules/common/tiles.h"

namespace attune {

/// Columns of a tile: with 4 rows, two loads feed four multiplications.
inline constexpr int dot_columns = 4;

/// Of a tile of columns and rows in registers.
struct DotTile {
  int columns, rows, lanes;
  Halide::Var column, row;
  std::vector<Halide::Var> others;  ///< what says which tile
};

/// A product of two elements, at an index of the contraction's last dim and at one of its others.
using DotTerm = std::function<Halide::Expr(const Halide::Expr& outer, const Halide::Expr& index)>;

/// sums(column, row, others..) = the sum of term(outer, index) over both parts of `over`, for each tile inside of `level`.
void sum_dots(Halide::Func sums, const DotTile& tile, const Tiled& over, const DotTerm& term, const Halide::LoopLevel& level);

}  // namespace attune
