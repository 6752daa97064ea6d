/// One kernel of attention_kernel.h while it is built: each warp multiplies its own queries.
#pragma once

#include <array>
#include <vector>

#include "codegen/tensor_cores/attention_builder.h"

namespace attune::tensor_cores {

class WarpAttention : public AttentionBuilder {
 public:
  using AttentionBuilder::AttentionBuilder;

  void run();

 private:
  // --- operands ---

  SharedTile tile(mlir::Value place, int rows, int columns) const {
    return {code_, stage_.element, place, rows, columns, row_pitch(stage_.element, columns)};
  }
  SharedTile queries_tile() const { return tile(shared_, tiles_.query_tile, depth_); }
  SharedTile keys_tile() const { return tile(behind_rows(tiles_.keeps_queries ? 0 : tiles_.query_tile), tiles_.key_tile, depth_); }
  SharedTile values_tile() const {
    return tile(behind_rows((tiles_.keeps_queries ? 0 : tiles_.query_tile) + tiles_.key_tile), tiles_.key_tile, value_columns_);
  }
  mlir::Value behind_rows(int rows) const {
    return code_.behind(shared_, rows * row_pitch(stage_.element, depth_) * element_bytes(stage_.element));
  }
  /// Columns of a first operand: two chunks.
  int query_columns() const { return 2 * chunk_elements(stage_.element); }

  /// If they are kept in registers, their memory is the keys' then.
  void load_queries();
  /// 16 of the warp's queries from row 16 m on, at two chunks of columns, as a first operand: from shared memory, or where they are kept.
  std::array<mlir::Value, 4> load_query(std::size_t m, int column) const;
  std::array<mlir::Value, 4> query_operand(std::size_t m, int column) const;
  /// All that threads copied is there for all of them, and they are done with what they read.
  void arrive();
  void load_keys(mlir::Value block) { load(keys_tile(), stage_.key, stage_.keys, code_.multiply(block, tiles_.key_tile), keys_, stage_.depth); }
  void load_values(mlir::Value block) {
    load(values_tile(), stage_.value, stage_.keys, code_.multiply(block, tiles_.key_tile), keys_, stage_.value_columns);
  }

  // --- the walk over blocks of keys ---

  /// From the first block on in which something may be visible.
  Values walk_all();
  Values walk(const NextBlock& first);
  /// Copies of the values pass while scores are computed, and those of the next keys while values are summed.
  Values visit(const NextBlock& block, Values state);
  int key_columns() const { return tiles_.key_tile / column_block; }
  /// Of the warp's queries and all keys of the block: [m][block of 8 keys].
  Scores products();
  /// The sums of two blocks of 8 keys lie as the first operand of the next product wants 16 columns.
  void add_values(const Scores& weights, Values& state);

  // --- operands that are f32 (attention_split.cpp): each product is three of TF32 ---

  Scores split_products();
  void add_split_values(const Scores& weights, Values& state);
  /// The state, or where something in it is NaN in any of the block's threads, that of a walk by careful products (split_product.h).
  Values walk_again_with_care(const Values& state);
  /// A change may hide that a product is NaN: a total is NaN then.
  void keep_nan(const Scores& scores, Values& state) const;
  mlir::Value is_any_nan(const Values& state) const;
  /// Whether it holds for any of the block's threads.
  mlir::Value in_any_warp(mlir::Value condition) const;

  std::vector<std::vector<std::array<mlir::Value, 4>>> query_fragments_;  // [m][16 columns]
};

}  // namespace attune::tensor_cores
