/// Softmax weights that a matmul sums over and that something else reads, too.
#pragma once

#include <set>
#include <vector>

#include "codegen/plan/stage_roles.h"

namespace attune {

/// Weights of which one matmul alone can be computed with the softmax, if its other readers get them from elsewhere: from exp(score - log_sum_exp).
struct KeptWeights {
  int softmax = -1, user = -1, matmul = -1;  ///< `user` reads the weights on their way to the matmul, or is it
  std::set<int> products;                    ///< of the score, and sums over pairs: what the stage of the matmul keeps to itself
};

/// Of a graph whose composites are expanded.
std::vector<KeptWeights> weights_kept_beside(const Graph& graph);

}  // namespace attune
