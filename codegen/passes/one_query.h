/// The pass before products of scores are told apart: attention of one query, whose scores have no dim of queries.
#pragma once

#include <mlir/IR/BuiltinOps.h>

namespace attune {

/// Afterwards a softmax over keys of scores that one product gives, and that one matmul takes, has a dim of one query where it had none, so that both
/// are one stage: the query is [one_query x ..], and of the result its only position is taken.
/// Stands after canonicalise, which finds products and softmaxes that are written otherwise, and before own_scores.
void one_query(mlir::ModuleOp module);

}  // namespace attune
