/// Stages that a kernel sweeps: they are called for one block of rows after the other, so that what they store of pairs of rows and columns is as long
/// as a block and is still in a cache when it is read.
#pragma once

#include <mlir/Dialect/Func/IR/FuncOps.h>

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/dialect/dialect.h"
#include "codegen/steps/block_graph.h"
#include "runtime/abi.h"

namespace attune {

/// Stages that are swept together, one behind the other.
struct StageSweep {
  std::vector<StageOp> stages;
  std::vector<SweptDim> dims;  ///< the columns, if they have a band; the outermost loop's; the last are the rows

  bool has(mlir::Operation* op) const {
    return llvm::any_of(stages, [&](StageOp stage) { return stage.getOperation() == op; });
  }
};

/// The stages in an order in which each finds its operands ready and those of a sweep stand together.
struct SweptStages {
  std::vector<StageOp> order;
  std::vector<StageSweep> sweeps;  ///< in that order
};

/// Of the views that a kernel may have, those that sweeps take; one is left for each output, by the parts of its dims.
inline constexpr std::size_t most_views_of_sweeps = ATTUNE_MAX_VIEWS - Graph::max_outputs;

/// Of a function whose body is stages. Swept are those around a product of rows and columns that is stored, where
///
/// - whatever reads or writes such pairs computes each row by itself, or is a product or a sum over rows: blocks add up to its result, as those of queries
///   add up to the gradients of keys and values, and
/// - something runs along the columns of a row that is no product and no sum: attention, a softmax, a walk; or blocks add up, and rows and columns share a
///   batch. (A hidden layer is products and norms of tokens and weights: its columns are as many as a token has features, and weights are packed once for
///   all tokens.)
///
/// Where a mask shows each row the columns between two lines (visible_band.h), columns are swept, too: a block of rows has those alone.
SweptStages swept_stages(mlir::func::FuncOp function);

}  // namespace attune
