/// What stands around a matrix in a picture: numbers or names at its sides, and where several matrices stand beside each other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/picture/canvas.h"

namespace attune {

inline constexpr double margin = 20, gap = 7, title_size = 16, note_size = 12, tick_size = 11;
/// A label beyond so many pixels is shortened.
inline constexpr double longest_label = 220;
/// Of labels above columns, in turns: they run upwards to the right.
inline constexpr double label_slant = 1.0 / 8;

/// One side of a matrix.
struct Side {
  std::string name;                 ///< what its positions are: "keys"
  std::vector<std::string> labels;  ///< of each position, or none: then numbers stand at some
  std::int64_t positions = 0;
  double pixels = 0;                ///< that one position takes

  double length() const { return static_cast<double>(positions) * pixels; }
  /// Positions from one label to the next, so that none touches another.
  std::int64_t step() const;
  double letter_size() const;
  /// Beyond the matrix: labels, or numbers, and the name.
  double depth(bool is_slanted) const;
};

/// The smallest of 1, 2, 5, 10, 20, 50, ... that is at least so much.
std::int64_t round_step(double least);

/// Draws both sides of the matrix at the place: rows at its left, columns above it.
void draw_sides(Canvas& canvas, const Rectangle& matrix, const Side& rows, const Side& columns);

/// Where `count` things of one size stand: so many in a line that all together are about as wide as high, lines of at most `most` pixels.
int columns_of_panels(int count, double width, double height, double most = 2400);

}  // namespace attune
