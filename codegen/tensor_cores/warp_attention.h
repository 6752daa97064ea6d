/// One kernel of attention_kernel.h while it is built: each warp multiplies its own queries.
#pragma once

#include <array>
#include <vector>

#include "codegen/tensor_cores/warp_products.h"

namespace attune::tensor_cores {

class WarpAttention : public WarpProducts {
 public:
  using WarpProducts::WarpProducts;

  void run();

 private:
  // --- operands ---

  SharedTile queries_tile() const { return tile(shared_, tiles_.query_tile, depth_); }
  SharedTile keys_tile() const { return tile(behind_rows(tiles_.keeps_queries ? 0 : tiles_.query_tile), tiles_.key_tile, depth_); }
  SharedTile values_tile() const {
    return tile(behind_rows((tiles_.keeps_queries ? 0 : tiles_.query_tile) + tiles_.key_tile), tiles_.key_tile, value_columns_);
  }
  mlir::Value behind_rows(int rows) const {
    return code_.behind(shared_, rows * row_pitch(stage_.element, depth_) * element_bytes(stage_.element));
  }
  /// If they are kept in registers, their memory is the keys' then.
  void load_queries();
  /// All that threads copied is there for all of them, and they are done with what they read.
  void arrive();
  void load_keys(mlir::Value block) { load(keys_tile(), stage_.key, key_rows(stage_.key, block), stage_.depth, all_threads()); }
  void load_values(mlir::Value block) {
    load(values_tile(), stage_.value, key_rows(stage_.value, block), stage_.value_columns, all_threads());
  }

  // --- the walk over blocks of keys ---

  /// From the first block on in which something may be visible.
  Values walk_all();
  Values walk(const NextBlock& first);
  /// Copies of the values pass while scores are computed, and those of the next keys while values are summed.
  Values visit(const NextBlock& block, Values state);

  // --- operands that are f32 (attention_split.cpp): each product is three of TF32 ---

  /// The state, or where something in it is NaN in any of the block's threads, that of a walk by careful products (split_product.h).
  Values walk_again_with_care(const Values& state);
  /// A change may hide that a product is NaN: a total is NaN then.
  void keep_nan(const Scores& scores, Values& state) const;
  mlir::Value is_any_nan(const Values& state) const;
};

}  // namespace attune::tensor_cores
