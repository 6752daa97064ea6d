/// Scores laid one behind the other along the keys, as a sink logit is behind the others: what hides and chooses among them
/// moves to where a stage can use it.
#pragma once

#include <mlir/IR/PatternMatch.h>

namespace attune {

/// concat(select(p, s, -inf), t) -> select(p, concat(s, t), -inf), where p is written in positions along all keys: so whole
/// blocks of keys can be left out. Of scores alone, and of predicates that read along the keys nothing but positions.
/// matmul(gather(w, index(keys), all), v, keys) -> matmul(w, v in its place among all, else 0, all), w being a softmax over
/// `all`, which a concat makes: so no weights are stored.
void add_concat_patterns(mlir::RewritePatternSet& patterns);

}  // namespace attune
