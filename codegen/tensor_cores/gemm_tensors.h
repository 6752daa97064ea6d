/// The tensors of a product as its kernels read and write them: operands by blocks into shared memory, sums as they are stored.
#pragma once

#include <string>
#include <vector>

#include "codegen/tensor_cores/gemm_stage.h"
#include "codegen/tensor_cores/kernel_function.h"
#include "codegen/tensor_cores/shared_tile.h"

namespace attune::tensor_cores {

/// Several dims as one, the last the fastest.
class FlatDims {
 public:
  FlatDims(const Code& code, const Extents& extents, const std::vector<std::string>& dims);

  mlir::Value size() const { return size_; }
  /// How many blocks of so many cover them.
  mlir::Value tiles(int tile) const;
  Coordinates at(mlir::Value index) const;

 private:
  mlir::Value extent(const std::string& dim) const { return extents_.find(dim)->second.value; }

  const Code& code_;
  const Extents& extents_;
  std::vector<std::string> dims_;
  mlir::Value size_;
};

/// An operand: its own dims, rows or columns of the result, lie side by side in memory, or those contracted do.
struct GemmSide {
  const Operand& operand;
  const FlatDims& own;
  bool is_by_own;
};

/// Which of 16 contracted elements a row of a tile is, so that rows that a fragment's lanes read at once are every other one, in banks of their own:
/// lane t of four multiplies elements 4 t to 4 t + 3, as it loads them at once where they lie side by side.
mlir::Value contracted_of_row(const Code& code, mlir::Value row);

class GemmTensors {
 public:
  GemmTensors(const KernelFunction& function, const KernelSteps& plan, const Step& step, const GemmStage& stage);

  const FlatDims& rows() const { return rows_; }
  const FlatDims& columns() const { return columns_; }
  const FlatDims& over() const { return over_; }
  GemmSide a() const { return {stage_.a, rows_, is_by_own(stage_.a)}; }
  GemmSide b() const { return {stage_.b, columns_, is_by_own(stage_.b)}; }
  /// Of the batch's products this one from here on.
  void take_product(mlir::Value number);

  /// All threads bring a block of an operand into a tile, whose rows run along its own dims, or along those contracted if it is by its own (in the
  /// order of contracted_of_row, where operands are split); what is beyond the last is 0.
  enum class Loads {
    of_elements,  ///< one by one, wherever they lie
    of_chunks,    ///< asynchronous copies of 16 bytes, where chunks of 8 elements lie so (GemmStage::aligned_dims)
    of_all        ///< the same of a block of which nothing is beyond the last
  };
  void load(const SharedTile& tile, const GemmSide& side, mlir::Value first_own, mlir::Value first_over, mlir::Value thread, int threads,
            Loads loads) const;

  /// Stores what the product's result is of a sum.
  void store(mlir::Value row, mlir::Value column, mlir::Value sum) const;
  /// The same of sums of columns side by side, from a multiple of their number on, where `has_runs` of as many is true: whether such columns lie side
  /// by side in the result, all of them or none are there, and they begin at multiples of their bytes, as an i1.
  void store(mlir::Value row, mlir::Value column, const llvm::SmallVector<mlir::Value>& sums) const;
  mlir::Value has_runs(int width) const;

 private:
  bool is_by_own(const Operand& operand) const;
  Coordinates place(mlir::Value row, mlir::Value column) const;
  mlir::Value result(const Coordinates& at, mlir::Value sum) const;
  mlir::Value offset(const GemmSide& side, const FlatDims& dims, mlir::Value index) const;

  Builder& builder_;
  const Code code_;
  const GemmStage& stage_;
  const StepArguments arguments_;
  const EmittedGraph graph_;
  const FlatDims rows_, columns_, over_, batch_;
  Coordinates product_;
};

}  // namespace attune::tensor_cores
