/// Masks that exporters have calculated, found again as what they follow from: the positions of a query and a key.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "dsl/graph.h"

namespace attune {

/// An end of what a row i sees: floor(i / block) * block + offset, or for a block of 0 the offset alone, whatever the row is.
struct RowEnd {
  std::int64_t block = 0, offset = 0;
  std::int64_t of(std::int64_t row) const { return block == 0 ? offset : row / block * block + offset; }
};

/// Row i shows column j where i < rows or j < columns, or where
///   (j < sinks or first(i) <= j)   and   j <= last(i)   and   (i - j) mod step = rest.
/// That is causal, a window, a prefix, sinks and a window, global tokens and a window, chunks, blocks, a dilated window.
struct PositionMask {
  std::int64_t rows = 0, columns = 0, sinks = 0;
  std::optional<RowEnd> first = {}, last = {};
  std::int64_t step = 1, rest = 0;
  bool shows(std::int64_t i, std::int64_t j) const;
};

/// The mask of a matrix of the extents, whose numbers are `shown` where it shows and `hidden` elsewhere; nothing if it is none of that form.
std::optional<PositionMask> position_mask(std::span<const double> numbers, std::int64_t row_count, std::int64_t column_count, double shown,
                                          double hidden);

/// boolean [rows, columns], or of one of the dims
Value value_of_mask(const PositionMask& mask, Dim rows, Dim columns);

}  // namespace attune
