/// Sizes of the tiles of an online softmax.
#pragma once

#include <algorithm>

#include "schedules/common/prefetch.h"

namespace attune {

/// A panel is the keys whose scores are summed in registers at once.
struct SoftmaxTiles {
  int lanes, rows, vectors, query_tile, key_tile, middle_tile, edge_tile;
  bool has_bf16_dot;  ///< the machine sums products of pairs of bf16
  bool copy_values;
  PrefetchInto prefetch_keys;
  bool in_matrix_tiles = false;  ///< products are of bf16, summed in a CPU's tile registers of 16 x 16; rows are a multiple of 16
  int panel() const { return lanes * vectors; }
  /// Of a block of so many keys.
  int panels(int keys) const { return keys / panel(); }
  int square_of_keys() const { return std::min(lanes, 8); }  ///< the edge of those that are turned in registers
  int row_groups() const { return query_tile / rows; }
};

}  // namespace attune
