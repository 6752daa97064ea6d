/// Masks of scores become masks of the weights that are made of them.
#pragma once

#include <mlir/IR/PatternMatch.h>

namespace attune {

/// f(p ? x : -inf) -> p ? f(x) : 0, where f is elementwise, depends on constants alone beside, and is 0 of minus infinity: a sigmoid, the positive
/// part, an exponential. So a matmul over such weights has the mask that it leaves out blocks by.
void add_hidden_patterns(mlir::RewritePatternSet& patterns);

}  // namespace attune
