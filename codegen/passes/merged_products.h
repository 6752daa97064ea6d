/// Products over merged dims become products over the dims that were merged.
#pragma once

#include <mlir/IR/PatternMatch.h>

namespace attune {

/// matmul(merge(x, {h, d}, m), w, m) -> matmul(x, split(w, m, {h, d}), {h, d}), where at most one extent of h, d ... is not known: attention's heads are
/// read as they are stored by the projection behind them, and split changes no place of the weights. The order of the sum is the same. Not of a w that a
/// loop computes along m, as softmax weights over keys in pages are: split, these could not be computed with the product.
/// split(merge(x, {h, d}, m), m, {h, d}) -> x and merge(split(x, m, {h, d}), {h, d}, m) -> x
void add_merged_patterns(mlir::RewritePatternSet& patterns);

}  // namespace attune
