/// A softmax over several dims, and the product with the values, are those over one dim that these are merged into.
#pragma once

#include <mlir/IR/BuiltinOps.h>

namespace attune {

/// Afterwards, with keys a new dim as long as all of r, c,
///   matmul(softmax(s, {r, c}), v, {r, c}) -> matmul(softmax(merge(s, {r, c}, keys), keys), merge(v, {r, c}, keys), keys)
/// where products alone read the softmax, each over all of its dims, and their other operands have these dims.
/// Stands before expand: written out, a softmax over several dims is four passes over stored scores, and split back into its dims it would have to
/// state their extents.
void joint_weights(mlir::ModuleOp module);

}  // namespace attune
