#include "tests/codegen/plan_trial.h"

#include "codegen/plan/node_users.h"

namespace attune {
namespace {

std::string problem_of_plan(const Graph& graph, const StagePlan& plan) {
  std::vector<std::string> loops;
  for (const int node : plan.nodes)
    if (is_anchor(graph.node(node))) loops.emplace_back(operation_name(graph.node(node).op));
  using Loops = std::vector<std::string>;
  const std::string_view kind = plan.kind();
  const bool is_right =
      kind == "pointwise" || kind == "write_rows" ? loops.empty()
      : kind == "gemm"                            ? loops == Loops{"matmul"}
      : kind == "row_softmax" ? loops == Loops{"softmax"} || loops == Loops{"softmax", "log_sum_exp"} || loops == Loops{"log_sum_exp", "softmax"}
      : kind == "recurrence"  ? loops == Loops{"recurrence"} || loops == Loops{"recurrence_state"} ||
                                   loops == Loops{"recurrence", "recurrence_state"} || loops == Loops{"recurrence_state", "recurrence"}
      : kind == "row_walk" ? loops == Loops{"cumulative_sum"} || loops == Loops{"top_k"} || loops == Loops{"top_k_positions"}
      : kind == "reduce"   ? loops.size() == 1 && loops[0] != "matmul" && loops[0] != "softmax"
                           : loops.size() >= 2;
  std::string text = std::string(plan.kind()) + " of";
  for (const std::string& loop : loops) text += " " + loop;
  return is_right ? std::string() : text;
}

}  // namespace

std::string problem_of_plans(const Graph& graph) {
  const Graph plain = expanded(graph);
  for (const bool fuse : {true, false})
    for (const StagePlan& plan : plan_stages(plain, fuse))
      if (std::string problem = problem_of_plan(plain, plan); !problem.empty()) return problem;
  return {};
}

}  // namespace attune
