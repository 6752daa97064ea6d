/// The kinds of stages with one operation that has a loop, or none.
#include "codegen/plan/planning.h"

namespace attune {
namespace {

/// The nodes of a graph that have loops.
std::vector<int> anchors_of(const Graph& graph) {
  std::vector<int> anchors;
  for (int id = 0; id < static_cast<int>(graph.nodes().size()); ++id)
    if (is_anchor(graph.node(id))) anchors.push_back(id);
  return anchors;
}

bool is_softmax(const Node& node) { return std::holds_alternative<Softmax>(node.op); }
bool is_walk(const Node& node) {
  return std::visit([]<class Op>(const Op&) { return requires { Op::is_walk; }; }, node.op);
}
bool is_matmul(const Node& node) { return std::holds_alternative<Matmul>(node.op); }

/// Why the weights of a softmax are stored: the words of the matmul that cannot take them.
std::string why_stored(const Planning& planning, int softmax) {
  if (!planning.is_fusing()) return "fusion is off";
  for (const auto& [matmul, answer] : planning.attentions())
    if (!answer.roles && answer.softmax == softmax) return answer.reason;
  return "no matmul sums over its weights";
}

}  // namespace

std::optional<PointwiseRoles> PointwiseRoles::find(const Graph& stage) {
  return anchors_of(stage).empty() ? std::optional(PointwiseRoles{}) : std::nullopt;
}
std::optional<Claim> PointwiseRoles::claim(const Planning&, int) { return std::nullopt; }

std::optional<WriteRowsRoles> WriteRowsRoles::find(const Graph& stage) {
  const int result = stage.outputs()[0].node;
  const auto is_argument = [&](int node) { return std::holds_alternative<Input>(stage.node(node).op); };
  const bool is_write = std::holds_alternative<WriteRows>(stage.node(result).op) && is_argument(stage.node(result).inputs[0]);
  return is_write && anchors_of(stage).empty() ? std::optional(WriteRowsRoles{result, stage.node(result).inputs[0]}) : std::nullopt;
}
/// No anchor: the plan makes it of what is written in place.
std::optional<Claim> WriteRowsRoles::claim(const Planning&, int) { return std::nullopt; }

std::optional<RowWalkRoles> RowWalkRoles::find(const Graph& stage) {
  const std::vector<int> anchors = anchors_of(stage);
  return anchors.size() == 1 && is_walk(stage.node(anchors[0])) ? std::optional(RowWalkRoles{anchors[0]}) : std::nullopt;
}
std::optional<Claim> RowWalkRoles::claim(const Planning& planning, int node) {
  if (!is_walk(planning.graph().node(node))) return std::nullopt;
  return Claim{RowWalkRoles{node}, "each row is walked for what stands before or above an element"};
}

std::optional<ReduceRoles> ReduceRoles::find(const Graph& stage) {
  const std::vector<int> anchors = anchors_of(stage);
  return anchors.size() == 1 ? std::optional(ReduceRoles{anchors[0]}) : std::nullopt;
}
std::optional<Claim> ReduceRoles::claim(const Planning& planning, int node) {
  const Node& reduction = planning.graph().node(node);
  if (is_softmax(reduction) || is_matmul(reduction)) return std::nullopt;
  return Claim{ReduceRoles{node}, "a reduction", {}, true};
}

std::optional<GemmRoles> GemmRoles::find(const Graph& stage) {
  const std::vector<int> anchors = anchors_of(stage);
  return anchors.size() == 1 && is_matmul(stage.node(anchors[0])) ? std::optional(GemmRoles{anchors[0]}) : std::nullopt;
}
std::optional<Claim> GemmRoles::claim(const Planning& planning, int node) {
  if (!is_matmul(planning.graph().node(node))) return std::nullopt;
  return Claim{GemmRoles{node}, planning.is_fusing() ? planning.attentions().at(node).reason : "fusion is off", {}, true};
}

std::optional<RowSoftmaxRoles> RowSoftmaxRoles::find(const Graph& stage) {
  RowSoftmaxRoles roles;
  for (const int anchor : anchors_of(stage)) {
    if (!is_softmax(stage.node(anchor))) continue;
    if (roles.softmax >= 0) return std::nullopt;
    roles = {anchor, log_sum_exp_beside(stage, anchor)};
  }
  const std::size_t anchors = roles.log_sum_exp >= 0 ? 2 : 1;
  return roles.softmax >= 0 && anchors_of(stage).size() == anchors ? std::optional(roles) : std::nullopt;
}
std::optional<Claim> RowSoftmaxRoles::claim(const Planning& planning, int node) {
  if (!is_softmax(planning.graph().node(node))) return std::nullopt;
  const RowSoftmaxRoles roles{node, log_sum_exp_beside(planning.graph(), node)};
  Claim claim{roles, why_stored(planning, node)};
  if (roles.log_sum_exp >= 0) claim.inside.insert(roles.log_sum_exp);
  return claim;
}

}  // namespace attune
