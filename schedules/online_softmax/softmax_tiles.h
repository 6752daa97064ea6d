/// Sizes of the tiles of an online softmax.
#pragma once

#include "schedules/common/prefetch.h"

namespace attune {

/// A panel is the keys whose scores are summed in registers at once.
struct SoftmaxTiles {
  int lanes, rows, vectors, query_tile, key_tile, middle_tile, edge_tile;
  bool has_bf16_dot;  ///< the machine sums products of pairs of bf16
  bool copy_values;
  PrefetchInto prefetch_keys;
  int panel() const { return lanes * vectors; }
  int row_groups() const { return query_tile / rows; }
};

}  // namespace attune
