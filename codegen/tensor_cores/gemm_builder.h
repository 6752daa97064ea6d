/// One kernel of gemm_kernel.h while it is built.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "codegen/tensor_cores/gemm_kernel.h"
#include "codegen/tensor_cores/gemm_tensors.h"
#include "codegen/tensor_cores/split_product.h"

namespace attune::tensor_cores {

class GemmBuilder {
 public:
  GemmBuilder(const KernelFunction& function, const KernelSteps& plan, const Step& step, const GemmStage& stage, const GemmTiles& tiles,
              bool is_aligned);

  void run();

 private:
  static constexpr int fragment = 16, column_block = 8;

  /// An operand in shared memory: rows of the tile run along one side, its own dims or those contracted, and columns along the other.
  struct Side : GemmSide {
    int tile;                       ///< of its own dims
    mlir::Value first, warp_first;  ///< of its own dims, the block's and within it the warp's
  };
  void find_place();

  // --- operands ---

  /// A side's chunk of a stage in shared memory: the first operand's stands before the second's.
  mlir::Value tile_place(const Side& side, mlir::Value stage) const;
  SharedTile tile(const Side& side, mlir::Value place) const;
  /// Chunk number `number` of the contracted dims.
  void load(mlir::Value number, mlir::Value stage) const;

  // --- sums ---

  int row_fragments() const { return tiles_.warp_rows / fragment; }
  int column_blocks() const { return tiles_.warp_columns / column_block; }
  std::size_t sum_at(int m, int n) const { return static_cast<std::size_t>(m * column_blocks() + n) * 4; }

  /// The stages are filled but for one; then each chunk is multiplied while the last of those that fit is copied to where the one before it stood.
  Code::Values walk() const;
  void multiply(mlir::Value stage, Code::Values& sums) const;

  // --- operands that are split (gemm_split.cpp): lane t of four multiplies elements 4 t to 4 t + 3 of a chunk's 16 ---

  void multiply_split(mlir::Value stage, Code::Values& sums) const;
  /// A lane's elements 4 t to 4 t + 3 of lines `first` and on: lane g of eight has one at position g of each.
  using Lines = std::vector<std::array<mlir::Value, 4>>;
  Lines lines(const Side& side, mlir::Value stage, int first, int count) const;
  /// Where an operand lies by its own dims a lane loads its elements of four lines at once, which are 8 columns apart in fragments.
  Lines lines_by_own(const Side& side, mlir::Value stage, int first, int count) const;
  static constexpr std::size_t steps = 2;  ///< of 8 contracted elements
  using Rows = std::vector<std::array<SplitReal, 4>>;  // [fragment of 16 rows]
  using Columns = std::array<std::array<SplitReal, 2>, steps>;
  /// The products of a block of 8 columns.
  void add_block(const std::array<Rows, steps>& rows, const Columns& columns, int block, Code::Values& sums) const;
  /// The sums, or where one is NaN in any of the block's threads, those of careful products.
  Code::Values walk_again_with_care(const Code::Values& sums);

  // --- results ---

  /// Which of its own dims a side's place in fragments is: position `position` of their line `line`, of eight each, from the warp's first on.
  mlir::Value own_place(const Side& side, int line, mlir::Value position) const;
  bool is_by_groups(const Side& side) const { return stage_.is_split() && side.is_by_own; }
  /// Columns of a lane that lie side by side in the result: its two of a block of 8, or one of four blocks each.
  struct Run {
    int block, column;  ///< of the first: the block, and which of the lane's two there
  };
  std::vector<Run> runs() const;
  int run_width() const { return is_by_groups(*b_) ? 4 : 2; }
  void store(const Code::Values& sums) const;
  /// Each run at once, or one by one.
  void store(const Code::Values& sums, bool is_at_once) const;
  void store(mlir::Value row, const Code::Values& sums, int line, const Run& run, bool is_at_once) const;

  Builder& builder_;
  const Code code_;
  const GemmStage& stage_;
  const GemmTiles& tiles_;
  const bool is_aligned_;
  const int chunk_;
  bool is_careful_ = false;
  GemmTensors tensors_;
  const mlir::Value shared_;
  mlir::Value thread_, lane_, warp_;
  std::optional<Side> a_, b_;
};

}  // namespace attune::tensor_cores
