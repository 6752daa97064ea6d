/// The pass that gives each reader of scores its own.
#pragma once

#include <mlir/IR/BuiltinOps.h>

namespace attune {

/// Afterwards a matmul that one stage can compute with its scores shares none of them: two softmaxes of one product (of a window and of all
/// keys), weights that two values are summed with, scores that are a result themselves. Each has a product of queries and keys of its own, which costs
/// less than queries x keys in memory; and so has a maximum of rows that the weights of such a matmul are made of. Scores that another reader has to have
/// in memory are still stored for it.
/// Stands after canonicalise, which would make one product of all, and before keep_weights, whose weights it leaves alone.
void own_scores(mlir::ModuleOp module);

}  // namespace attune
