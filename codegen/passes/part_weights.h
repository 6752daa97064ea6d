/// What is done to weights of pairs and can be done to the product with the values is done there.
#pragma once

#include <mlir/IR/PatternMatch.h>

namespace attune {

/// matmul(a - f b, v) -> matmul(a, v) - f matmul(b, v), the same of a sum and of factors of either: where a and b are made of softmaxes over what the
/// matmul sums over, and f depends on none of it. Each softmax then has a matmul that it is computed with, and no weights are stored.
///
/// matmul(sum(a), v) -> sum(matmul(a, v)), likewise, where the sum is over dims that v lacks: as many products with v as there were of scores, none of which
/// are stored.
///
/// matmul(w / f, v) -> matmul(w, v) / f, the same of w * f: where f is made of the sum of w over what the matmul sums over, or of another function
/// of the product that w is made of. The sum is computed beside the product then, where f would need all weights before the first product.
/// A product over nothing is 0, and divided by 1.
void add_weight_patterns(mlir::RewritePatternSet& patterns);

}  // namespace attune
