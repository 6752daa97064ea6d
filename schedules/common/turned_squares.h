/// A matrix that is stored by columns although its rows lie in memory: turned in registers, square by square.
#pragma once

#include <Halide.h>

#include <vector>

namespace attune {

/// Squares of `edge` rows of as many elements, a power of two. Each of log2(edge) steps takes the elements of row i and of row i + edge / 2 in turn, for
/// rows 2i and 2i + 1. (Of the bits of an element's row and column, side by side, the first becomes the last with each step.) That is one
/// permutation for a vector; picked from all rows of a square, elements take twice as many instructions and more.
class TurnedSquares {
 public:
  TurnedSquares() = default;
  /// Of the matrix whose element this is. `place` are the Vars that it depends on: column, row, and what says which matrix.
  TurnedSquares(int edge, const Halide::Var& column, const Halide::Var& row, const std::vector<Halide::Expr>& place, const Halide::Expr& element);

  /// The same element, as one of a square that is turned.
  Halide::Expr element() const;
  /// For a Func of these elements whose loops are split by `edge` along columns and rows: a square is loaded and turned inside of the loop over squares.
  void schedule(const Halide::Func& turned, const Halide::Var& square) const;

 private:
  int edge_ = 1;
  Halide::Var column_, row_, along_{"along-"}, pair_{"pair-"}, column_square_{"column_square-"}, row_square_{"row_square-"};
  std::vector<Halide::Expr> others_;  ///< of the place
  Halide::Func loaded_{"rows_to_turn"};
  std::vector<Halide::Func> steps_;  // [.., square, square, pair of rows, along both]
};

}  // namespace attune
