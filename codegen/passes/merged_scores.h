/// Scores over dims that are merged become scores of merged queries or keys.
#pragma once

#include <mlir/IR/PatternMatch.h>

namespace attune {

/// Attention over several dims of keys, as the rows and columns of an image, is a softmax over one that they are merged into. The merge moves from the
/// scores to what their product is of, so that they are computed in tiles:
///   merge(matmul(q, k, d), {r, c}, keys) -> matmul(q, merge(k, {r, c}, keys), d), where one operand has all of r, c and the other none
///   merge(f(x, y), {r, c}, keys) -> f(merge(x, {r, c}, keys), merge(y, {r, c}, keys)) for elementwise f above such a product
///   matmul(split(w, keys, {r, c}), v, {r, c}) -> matmul(w, merge(v, {r, c}, keys), keys), for weights w that attention computes along keys
void add_merged_score_patterns(mlir::RewritePatternSet& patterns);

}  // namespace attune
