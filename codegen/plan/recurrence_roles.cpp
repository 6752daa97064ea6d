/// The kind of stages that carry a state along a dim.
#include <algorithm>

#include "codegen/plan/planning.h"

namespace attune {
namespace {

/// The state of a recurrence's operands, if the graph has it; or -1.
int state_beside(const Graph& graph, int recurrence) {
  const Node& node = graph.node(recurrence);
  const auto& op = std::get<Recurrence>(node.op);
  for (int id = 0; id < static_cast<int>(graph.nodes().size()); ++id) {
    const auto* state = std::get_if<RecurrenceState>(&graph.node(id).op);
    if (state == nullptr || state->along != op.along || state->over != op.over) continue;
    if (std::ranges::equal(graph.node(id).operands(), node.operands().subspan(1))) return id;
  }
  return -1;
}

}  // namespace

std::optional<RecurrenceRoles> RecurrenceRoles::find(const Graph& stage) {
  RecurrenceRoles roles;
  int anchors = 0;
  for (int id = 0; id < static_cast<int>(stage.nodes().size()); ++id) {
    const Node& node = stage.node(id);
    if (!is_anchor(node)) continue;
    ++anchors;
    if (std::holds_alternative<Recurrence>(node.op)) roles = {id, state_beside(stage, id)};
    else if (std::holds_alternative<RecurrenceState>(node.op) && roles.recurrence < 0) roles.state = id;
  }
  const int expected = (roles.recurrence >= 0 ? 1 : 0) + (roles.state >= 0 ? 1 : 0);
  return expected > 0 && anchors == expected ? std::optional(roles) : std::nullopt;
}

std::optional<Claim> RecurrenceRoles::claim(const Planning& planning, int node) {
  const Graph& graph = planning.graph();
  if (std::holds_alternative<RecurrenceState>(graph.node(node).op)) return Claim{RecurrenceRoles{-1, node}, "a state that no recurrence is computed with"};
  if (!std::holds_alternative<Recurrence>(graph.node(node).op)) return std::nullopt;
  const RecurrenceRoles roles{node, state_beside(graph, node)};
  Claim claim{roles, "a state that is carried from token to token", {}, true};
  if (roles.state >= 0) claim.inside.insert(roles.state);
  return claim;
}

}  // namespace attune
