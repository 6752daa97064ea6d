/// Sums of weights become sums of products.
#pragma once

#include <mlir/IR/PatternMatch.h>

namespace attune {

/// matmul(a - f b, v) -> matmul(a, v) - f matmul(b, v), the same of a sum and of factors of either: where a and b are made of softmaxes over what the matmul
/// sums over, and f depends on none of it. Each softmax then has a matmul that it is computed with, and no weights are stored.
void add_weight_patterns(mlir::RewritePatternSet& patterns);

}  // namespace attune
