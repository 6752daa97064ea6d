/// What a warp multiplies by itself: its rows of queries with keys, and of their weights with values, which lie in shared memory.
#pragma once

#include <array>
#include <vector>

#include "codegen/tensor_cores/attention_builder.h"

namespace attune::tensor_cores {

class WarpProducts : public AttentionBuilder {
 public:
  using AttentionBuilder::AttentionBuilder;

 protected:
  SharedTile tile(mlir::Value place, int rows, int columns) const {
    return {code_, stage_.element, place, rows, columns, row_pitch(stage_.element, columns)};
  }
  /// The warp's queries, in registers for all of the walk.
  void keep_queries(const SharedTile& queries);

  /// Of the warp's queries, unless they are kept those of the tile, and all keys of a tile: [m][block of 8 keys].
  Scores products(const SharedTile& queries, const SharedTile& keys) const;
  /// The sums of two blocks of 8 keys lie as the first operand of the next product wants 16 columns.
  void add_values(const Scores& weights, const SharedTile& values, Values& state) const;

 private:
  /// Columns of a first operand: two chunks.
  int query_columns() const { return 2 * chunk_elements(stage_.element); }
  /// 16 of the warp's queries from row 16 m on, at two chunks of columns, as a first operand: from shared memory, or where they are kept.
  std::array<mlir::Value, 4> load_query(const SharedTile& queries, std::size_t m, int column) const;
  std::array<mlir::Value, 4> query_operand(const SharedTile& queries, std::size_t m, int column) const;
  int key_columns() const { return tiles_.key_tile / column_block; }

  // Operands that are f32 (attention_split.cpp): each product is three of TF32.
  Scores split_products(const SharedTile& queries, const SharedTile& keys) const;
  void add_split_values(const Scores& weights, const SharedTile& values, Values& state) const;

  std::vector<std::vector<std::array<mlir::Value, 4>>> query_fragments_;  // [m][16 columns]
};

}  // namespace attune::tensor_cores
