/// Grid: how much of each cell of a matrix something covers, where a cell is one element or, of a large matrix, a rectangle of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace attune {

/// A matrix in cells of row_step x column_step elements; those at its ends may have fewer.
struct GridShape {
  std::int64_t rows = 0, columns = 0;  ///< of the matrix
  std::int64_t row_step = 1, column_step = 1;

  std::int64_t cell_rows() const { return (rows + row_step - 1) / row_step; }
  std::int64_t cell_columns() const { return (columns + column_step - 1) / column_step; }
  std::int64_t cell_size(std::int64_t row, std::int64_t column) const {
    return std::min(row_step, rows - row * row_step) * std::min(column_step, columns - column * column_step);
  }
};

class Grid {
 public:
  explicit Grid(const GridShape& shape) : shape_(shape), covered_(static_cast<std::size_t>(shape.cell_rows() * shape.cell_columns()), 0) {}

  const GridShape& shape() const { return shape_; }

  /// The elements from (top, left) up to before (bottom, right) are covered; none of them is yet.
  void cover(std::int64_t top, std::int64_t bottom, std::int64_t left, std::int64_t right) {
    for (std::int64_t row = top / shape_.row_step; row * shape_.row_step < bottom; ++row) {
      const std::int64_t height = overlap(row, shape_.row_step, top, bottom);
      for (std::int64_t column = left / shape_.column_step; column * shape_.column_step < right; ++column)
        covered_[place(row, column)] += height * overlap(column, shape_.column_step, left, right);
    }
  }

  /// Covered elements of a cell, as a share of its elements.
  double share(std::int64_t row, std::int64_t column) const {
    return static_cast<double>(covered_[place(row, column)]) / static_cast<double>(shape_.cell_size(row, column));
  }
  /// Of the whole matrix.
  std::int64_t covered() const {
    std::int64_t sum = 0;
    for (const std::int64_t elements : covered_) sum += elements;
    return sum;
  }
  /// Two grids of one shape that cover as much of every cell.
  bool operator==(const Grid& other) const { return covered_ == other.covered_; }

 private:
  std::size_t place(std::int64_t row, std::int64_t column) const { return static_cast<std::size_t>(row * shape_.cell_columns() + column); }
  static std::int64_t overlap(std::int64_t cell, std::int64_t step, std::int64_t begin, std::int64_t end) {
    return std::min((cell + 1) * step, end) - std::max(cell * step, begin);
  }

  GridShape shape_;
  std::vector<std::int64_t> covered_;
};

}  // namespace attune
