/// A softmax that is written out, found.
#pragma once

#include <mlir/IR/PatternMatch.h>

namespace attune {

/// With e = exp(s - max(s)) and t = sum(e) along a dim, and l = log_sum_exp(s):
///   matmul(e, v) / t       -> matmul(softmax(s), v) + (l - l), where nothing else reads e and t; the same of a product with 1 / t
///   matmul(exp(s - l), v)  -> matmul(softmax(s), v) + (l - l), where nothing else reads the powers
///   log(t) + max(s)        -> l + (l - l)
/// so that nothing needs what follows from all scores of a row before the first product, and scores are not stored. l - l is 0, and NaN in a row in
/// which all scores are minus infinity: there the powers are NaN, where weights of a softmax are 0. It is left out where they are kept from that:
/// relative to select(max(s) == -inf, 0, max(s)) and divided by select(t == 0, 1, t).
void add_written_softmax_patterns(mlir::RewritePatternSet& patterns);

}  // namespace attune
