/// The columns of a packed product as tiles of vectors.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "schedules/common/tiles.h"

namespace attune {

/// Columns are cut into pieces, each along the last dim and at one place of the others, and a tile takes so many pieces as it has room for: of heads of
/// 40 columns each, tiles that ended with a head would compute 64.
class PackedColumns {
 public:
  struct Shape {
    int vectors = 1, lanes = 1;
    bool are_read_along = false;  ///< vectors are read along the columns, up to a clamped end: it must be known where they are pieces
  };
  PackedColumns(std::vector<std::string> dims, const Extents& extents, const Shape& shape);

  /// Columns of a tile.
  int width() const { return width_; }
  /// Elements of a vector that loads and stores along the columns take at once.
  int lanes() const { return std::min(columns_.size(), lanes_); }
  /// Extent of the last dim.
  const Halide::Expr& along() const { return columns_.extent(); }
  Halide::Expr tiles() const;
  /// Vectors that hold columns, from the first of a tile to the end: of all, or of the last dim where tiles end with it.
  Halide::Expr vectors_from(const Halide::Expr& tile) const;
  /// Whether there is a column j of the tile. It says what is likely.
  Halide::Expr has(const Halide::Expr& tile, const Halide::Expr& j) const;

  /// Adds the coordinates of column j of a tile, which there must be.
  void place(const Halide::Expr& tile, const Halide::Expr& j, Coordinates& at) const;
  /// The same of the last one where there is none; `is_lane` as `clamped` takes it.
  void place_clamped(const Halide::Expr& tile, const Halide::Expr& j, bool is_lane, Coordinates& at) const;
  /// The same wherever it may be: for addresses that nothing is read from.
  void place_anywhere(const Halide::Expr& tile, const Halide::Expr& j, Coordinates& at) const;

 private:
  struct Place {
    Halide::Expr outer, index;  ///< along the other dims, and along the last one
  };
  Place place_of(const Halide::Expr& tile, const Halide::Expr& j) const;
  bool has_outer() const { return columns_.outer().size() > 0; }

  int width_, lanes_;
  Tiled columns_;  ///< in pieces
};

}  // namespace attune
