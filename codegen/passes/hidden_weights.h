/// Masks of scores become masks of the weights that are made of them.
#pragma once

#include <mlir/IR/PatternMatch.h>

namespace attune {

/// f(p ? x : -inf) -> p ? f(x) : 0, where f is elementwise, depends on constants alone beside, and is 0 of minus infinity: a sigmoid, the positive
/// part, an exponential. So a matmul over such weights has the mask that it leaves out blocks by.
///
/// s * (p ? y : 0) -> p ? s * y : 0, for scores s whose product with it is weights of values alone, as the decay of a state space is zero above the
/// diagonal (Mamba-2). What is hidden is not computed: where a score is no number there, its weight is 0.
void add_hidden_patterns(mlir::RewritePatternSet& patterns);

}  // namespace attune
