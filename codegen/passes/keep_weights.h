/// The pass before stages are formed: softmax weights that are wanted beside the result of their matmul.
#pragma once

#include <mlir/IR/BuiltinOps.h>

namespace attune {

/// Afterwards weights that one matmul could take within one stage, if nothing else read them, are read by nothing else: other readers get
///   p = exp(s - l), 0 where l is -inf, with l = log_sum_exp(s)
/// from a product of queries and keys of their own, so that neither scores nor weights are stored for the matmul,
/// and of the others only what they read.
/// l comes out of the matmul's stage.
/// Stands after canonicalise, which would make one product of both, and before form_stages.
void keep_weights(mlir::ModuleOp module);

}  // namespace attune
