/// A sum of products as a score (latent attention, relative positions) becomes one product, which one stage can compute in tiles.
#pragma once

#include <mlir/IR/PatternMatch.h>

namespace attune {

/// matmul(a, b, d) + matmul(c, e, f) -> matmul(concat(a, c), concat(b, e), d and f)
/// matmul(a, b, d) + matmul(a, e, d) -> matmul(a, b + e, d)
/// Of scores alone, also with - for + and other terms between; only where a and c lack dims that b or e are for, and the
/// other way round, so that no operand grows to queries x keys, and where both products have all of these dims.
void add_product_patterns(mlir::RewritePatternSet& patterns);

}  // namespace attune
