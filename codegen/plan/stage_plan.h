/// Which operations of a graph are computed together: the partition into stages, decided on the expanded graph.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codegen/plan/stage_roles.h"

namespace attune {

/// One stage: it computes `nodes` and stores the values of `results`; `inputs` are values of other stages or arguments.
/// Elementwise operations may stand in several stages: they are computed where they are used, never stored between.
struct StagePlan {
  StageRoles roles = PointwiseRoles{};  ///< of nodes of the graph
  std::vector<int> results;             ///< that of the whole stage, then those beside it (results_beside)
  std::vector<int> nodes;               ///< ascending
  std::vector<int> inputs;              ///< ascending
  std::string reason;                   ///< what `attune explain` prints

  std::string_view kind() const { return name_of(roles); }
};

/// The stages of the graph in an order in which each finds its inputs ready. Without `fuse` every matmul and softmax is a
/// stage of its own: the baseline that fused stages are measured against.
std::vector<StagePlan> plan_stages(const Graph& graph, bool fuse = true);

}  // namespace attune
