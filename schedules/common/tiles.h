/// Named dims as tile indices: the arithmetic between a schedule's loops and the coordinates of a stage's pieces.
#pragma once

#include <string>
#include <vector>

#include "codegen/halide/bodies/stage.h"

namespace attune {

/// ceil(extent / size), 0 for nothing.
Halide::Expr tiles_of(const Halide::Expr& extent, const Halide::Expr& size);

/// How many pieces make up so much work, if that of a piece is the product of these: 1 at least. They may be any extents, whose product is no int.
Halide::Expr pieces_of(int work, const std::vector<Halide::Expr>& factors);

/// index, promised to bounds inference to lie in [0, extent - 1]: for loops whose predicates ensure it.
Halide::Expr within(const Halide::Expr& index, const Halide::Expr& extent);

/// index, at most extent - 1: for loads of a last tile's padding. `is_lane` says that loops should run without it where it changes nothing.
Halide::Expr clamped(const Halide::Expr& index, const Halide::Expr& extent, bool is_lane);

/// The coordinates of these dims as a Func takes them that is stored over the dims: the last first.
std::vector<Halide::Expr> innermost_first(const std::vector<std::string>& dims, const Coordinates& at);

/// The element of a stored tensor.
Halide::Expr element_of(const Stored& stored, const Coordinates& at);

/// The dim is the piece's innermost one: elements along it are neighbours in memory.
bool lies_along(const Piece& piece, const std::string& dim);

/// The piece is one load of elements of this storage, times a constant at most, with the dim innermost in memory.
bool is_load_along(const Piece& piece, const std::string& dim, Element element);

/// The piece is one load of f32 and nothing else, with the dim innermost in memory: its vectors need no copy.
bool is_in_place_along(const Piece& piece, const std::string& dim);

/// Dims walked as one index, the last one fastest.
class Flat {
 public:
  Flat() = default;
  Flat(std::vector<std::string> dims, const Extents& extents);

  /// The product of the extents, 1 of none.
  Halide::Expr extent() const;
  /// Adds the coordinates of `index`, which lies in [0, extent() - 1].
  void place(Halide::Expr index, Coordinates& at) const;
  /// The same without promises of where they lie: for conditions of which Halide is to make conditions of what is computed under them alone. It moves
  /// no promise.
  void place_unpromised(Halide::Expr index, Coordinates& at) const;
  /// The index of coordinates: what place() is given.
  Halide::Expr index(const Coordinates& at) const;
  std::size_t size() const { return dims_.size(); }

 private:
  std::vector<std::string> dims_;
  std::vector<Halide::Expr> extents_;
};

/// Dims of which the last is cut into tiles, and the others are walked whole.
class Tiled {
 public:
  Tiled() = default;
  Tiled(std::vector<std::string> dims, const Extents& extents, int size);

  int size() const { return size_; }
  /// The others, as one index.
  const Flat& outer() const { return outer_; }
  /// Extent of the dim that is cut, 1 if there are no dims.
  const Halide::Expr& extent() const { return extent_; }
  /// Tiles along the dim that is cut.
  Halide::Expr tiles_along() const { return tiles_of(extent_, size_); }
  Halide::Expr tiles() const;

  /// The first element of a tile, of all tiles(), along the dim that is cut.
  Halide::Expr first(const Halide::Expr& tile) const;
  /// Adds the coordinates of `index` along the dim that is cut, in one of all tiles().
  void place(const Halide::Expr& tile, const Halide::Expr& index, Coordinates& at) const;
  /// Adds the coordinates of `index` along the dim that is cut, and of `outer` along the others.
  void place_outer(const Halide::Expr& outer, const Halide::Expr& index, Coordinates& at) const;

 private:
  Flat outer_;
  std::string dim_;
  Halide::Expr extent_ = 1;
  int size_ = 1;
};

}  // namespace attune
