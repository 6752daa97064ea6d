/// The last pass on the graph: what is computed together stands together.
#pragma once

#include <mlir/IR/BuiltinOps.h>

#include <string>

namespace attune {

/// Afterwards the function's body is attn.stage operations and attn.return: each stage of the plan (codegen/plan/stage_plan.h)
/// holds clones of its operations, sees only its operands (arguments and results of earlier stages) and gives its results.
/// An elementwise operation may stand in several stages. With `fuse` false every matmul and softmax is a stage of its own.
/// Stands after canonicalise, whose forms the plan recognises, and before the lowering, which knows only stages.
/// The answer is empty, or a sentence about a graph that is too large.
std::string form_stages(mlir::ModuleOp module, bool fuse = true);

}  // namespace attune
