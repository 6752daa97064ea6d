/// Scores of which several stages could each compute their own, while something else reads them, too.
#pragma once

#include <optional>
#include <set>

#include "dsl/graph.h"

namespace attune {

/// A matmul that one stage could compute with its scores, if nothing else read these; or a reduction of rows.
struct SharedScores {
  int reader = -1;
  std::set<int> nodes;  ///< the products of queries and keys, and all that is made of them on the way to the reader
};

/// The first of a graph whose composites are expanded; none if there is none. Those whose weights have no other reader come before others. Weights
/// that are kept beside their matmul (kept_weights.h) are not among them, nor are scores that are sums over pairs and no products, which cost more than
/// to store them, nor reductions of rows, which a layer's norm has of any product; but for those that the weights of a matmul need.
std::optional<SharedScores> shared_scores(const Graph& graph);

}  // namespace attune
