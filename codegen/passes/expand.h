/// The pass that writes out: composites are replaced by what they mean.
#pragma once

#include <mlir/IR/BuiltinOps.h>

namespace attune {

/// Afterwards no operation is a composite: each stands as the operations that its `expand` calls.
/// Stands before canonicalise, which knows multiply and select and no scale and mask; after specialise, so that what is
/// printed in between still has the user's words.
void expand(mlir::ModuleOp module);

}  // namespace attune
