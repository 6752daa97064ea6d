/// Where a kernel of attention is in its tensors: the rows of its blocks of threads, and how their operands come to shared memory.
#pragma once

#include <mlir/Dialect/Arith/IR/Arith.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "codegen/tensor_cores/attention_kernel.h"
#include "codegen/tensor_cores/kernel_function.h"
#include "codegen/tensor_cores/shared_tile.h"

namespace attune::tensor_cores {

/// A warp has `m` times 16 queries; of these a thread has rows lane / 4 and lane / 4 + 8.
class AttentionPlaces {
 public:
  AttentionPlaces(const KernelFunction& function, const KernelSteps& plan, const Step& step, const AttentionStage& stage,
                  const AttentionTiles& tiles, bool is_aligned)
      : builder_(function.builder),
        code_(function.builder),
        stage_(stage),
        tiles_(tiles),
        is_aligned_(is_aligned),
        row_dims_{stage.queries},
        arguments_(function.builder, plan, step, function.function),
        depth_(filled(stage.depth)),
        value_columns_(filled(stage.value_columns)),
        m_(tiles.warp_rows / fragment),
        shared_(function.shared) {}

 protected:
  static constexpr int fragment = 16, column_block = 8;
  static int filled(std::int64_t columns) { return static_cast<int>((columns + fragment - 1) / fragment * fragment); }

  // --- where the threads are ---

  void find_place();
  /// Thread, lane and warp, and the numbers of rows, keys and blocks of keys.
  void find_thread();
  /// The coordinates of a batch along these dims.
  void set_batch(const std::vector<std::string>& dims, mlir::Value number);
  /// The number of the block of queries, the last one first, and that of the batch. The last has the most keys under a causal mask, so that with
  /// masks the blocks of several batches, whose keys and values stay in the L2 cache, are taken by turns, and short ones end the launch.
  std::pair<mlir::Value, mlir::Value> block_and_batch(mlir::Value query_blocks) const;
  const Emitted& extent(std::string_view dim) const { return arguments_.extents().find(dim)->second; }
  Emitted index(mlir::Value value) const { return {&builder_, value, index_range}; }

  /// The row of a thread: `half` says which of the two of 16.
  mlir::Value row_of(int m, int half) const;
  /// A row that is there, for what is read for one that is none.
  mlir::Value row_inside(mlir::Value row) const { return builder_.createOrFold<mlir::arith::MinSIOp>(row, code_.add(rows_, -1)); }
  /// The coordinates of a row: its batch, and `row_dims_`, of which the last runs fastest.
  Coordinates at_row(mlir::Value row) const;
  /// A column of a thread's sums in a block of 8 columns. With a width, every so many blocks have their columns by turns.
  mlir::Value column_of(int block, int element, int width = 1) const {
    const int others = block / width * width * column_block + block % width;
    return code_.add(code_.multiply(code_.remainder(lane_, 4), 2 * width), others + element % 2 * width);
  }
  /// Operands of f32, of which each product is three of TF32.
  bool is_split() const { return stage_.element == Element::f32; }
  /// Blocks of the result whose columns a thread loads side by side from a row of values.
  int value_width() const { return is_split() ? 2 : 1; }

  // --- operands ---

  /// Rows of an operand from `first` to `count`, each at an offset in its tensor.
  struct OperandRows {
    std::function<mlir::Value(mlir::Value row)> offset;
    mlir::Value first, count;
  };
  /// The rows of a batch along a dim.
  OperandRows rows_along(const Operand& operand, const std::string& dim, mlir::Value first, mlir::Value count) const;
  /// The block's; and those of a block of keys.
  OperandRows query_rows() const;
  OperandRows key_rows(const Operand& operand, mlir::Value block) const {
    return rows_along(operand, stage_.keys, code_.multiply(block, tiles_.key_tile), keys_);
  }
  /// Threads that load together.
  struct Loaders {
    mlir::Value number;
    int count;
  };
  Loaders all_threads() const { return {thread_, tiles_.threads()}; }
  /// Rows of an operand, and its columns from `first_column` on, into a tile; what is beyond the last row and the last of its `columns` is 0.
  void load(const SharedTile& tile, const Operand& operand, const OperandRows& rows, std::int64_t columns, const Loaders& loaders,
            std::int64_t first_column = 0) const;

  Builder& builder_;
  const Code code_;
  const AttentionStage& stage_;
  const AttentionTiles& tiles_;
  const bool is_aligned_;
  std::vector<std::string> row_dims_;  // queries, and the dims of the batch that rows are of, too
  const StepArguments arguments_;
  const int depth_, value_columns_, m_;  // columns with those that fill up fragments
  const mlir::Value shared_;
  mlir::Value thread_, lane_, warp_, rows_, keys_, blocks_;
  mlir::Value first_row_, warp_row_, first_query_;  // of the block; the warp's in it; the query of the block's first row
  Coordinates batch_;
  bool is_careful_ = false;  // places are made anew for a second walk (attention_split.cpp): kept, they would take registers through the first
};

}  // namespace attune::tensor_cores
