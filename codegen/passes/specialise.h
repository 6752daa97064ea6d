/// The first pass: what is given when a kernel is compiled becomes part of the types.
#pragma once

#include <mlir/IR/BuiltinOps.h>

#include <string>

#include "codegen/dialect/tensor_type.h"
#include "codegen/passes/stage_options.h"

namespace attune {

/// Afterwards every type states the extents that are given and those that follow from them, and no element is `real`:
/// arguments and results of the function have their storage, everything between them is f32. A result that is the
/// logarithm of a sum stays f32 unless `storage` names it. What `products` allows becomes an attribute of the function.
/// Stands before expand: composites are expanded at the types of their operands, and `extent` of a known dim folds.
/// The answer is empty, or a sentence: a dim or tensor that the graph does not have, an extent below 1 or one that
/// contradicts a fixed or derived one, a storage that does not exist. The module is as before then.
std::string specialise(mlir::ModuleOp module, const Specialisation& given);

}  // namespace attune
