#include <algorithm>

#include "codegen/plan/attention_match.h"

namespace attune {
namespace {

bool is_zero(const Node& node) {
  const auto* constant = as<Constant>(node);
  return constant != nullptr && constant->value == 0;
}

/// The operand of a change that is linear in the weight, or -1: a factor may depend on anything but the weight.
int linear_operand(const Graph& graph, const Node& node, int weight) {
  const auto in = node.operands();
  if (as<Dropout>(node) != nullptr) return in[0] == weight ? weight : -1;
  if (as<Multiply>(node) != nullptr) return (in[0] == weight) != (in[1] == weight) ? weight : -1;
  if (as<Divide>(node) != nullptr) return in[0] == weight && in[1] != weight ? weight : -1;
  if (as<Select>(node) != nullptr)
    return (in[1] == weight && is_zero(graph.node(in[2]))) || (in[2] == weight && is_zero(graph.node(in[1]))) ? weight : -1;
  return -1;
}

/// A softmax (over the dim, if one is given) whose weights come to the node through elementwise operations alone, or -1.
int nearest_softmax(const Graph& graph, int id, std::optional<Name> over = std::nullopt) {
  int found = -1;
  look_below(graph, id, [&](int next) {
    const auto* softmax = as<Softmax>(graph.node(next));
    if (found < 0 && softmax != nullptr && (!over || softmax->over == *over)) found = next;
    return found < 0 && !is_anchor(graph.node(next));
  });
  return found;
}

/// The softmax that an operand of a matmul consists of; if it cannot be computed together with the matmul, why.
struct Weights {
  int softmax = -1;
  std::string refusal;
};

/// Follows the weights of a matmul's operand back to a softmax over `keys` through changes that are linear in it.
Weights weights_below(const Graph& graph, int node, Name keys, const Users& users) {
  const int softmax = nearest_softmax(graph, node, keys);
  const auto refuse = [&](std::string why) { return Weights{softmax, std::move(why)}; };
  if (softmax < 0) {
    const int other = nearest_softmax(graph, node);
    if (other < 0) return {};
    return {other, "the softmax runs over " + std::string(as<Softmax>(graph.node(other))->over) + ", the matmul over " + std::string(keys)};
  }
  while (true) {
    const std::vector<int>& uses = users[static_cast<std::size_t>(node)];
    if (std::ranges::find(uses, output_user) != uses.end()) return refuse("the weights are an output and must be stored");
    if (uses.size() != 1) return refuse("the weights are used " + std::to_string(uses.size()) + " times and must be stored");
    if (node == softmax) return {softmax, {}};
    int next = -1;
    for (const int operand : graph.node(node).operands())
      if (graph.node(operand).type.dims.has(keys) && nearest_softmax(graph, operand, keys) == softmax) next = operand;
    if (next < 0 || linear_operand(graph, graph.node(node), next) != next)
      return refuse(name_of(graph.node(node)) + " between softmax and matmul is not linear in the weights");
    node = next;
  }
}

}  // namespace

AttentionAnswer match_online_softmax(const Graph& graph, const Users& users, int id) {
  AttentionRoles roles;
  const auto refuse = [&](std::string reason) { return AttentionAnswer{std::nullopt, roles.softmax, std::move(reason)}; };
  const Node& node = graph.node(id);
  if (as<LogSumExp>(node) != nullptr) return match_reduction(graph, users, id);
  const auto* matmul = as<Matmul>(node);
  if (matmul == nullptr) return refuse("is no matmul");
  if (matmul->over.size() != 1) {
    roles.softmax = std::max(nearest_softmax(graph, node.inputs[0]), nearest_softmax(graph, node.inputs[1]));
    return refuse(roles.softmax < 0 ? "no operand is the result of a softmax" : "the matmul runs over several dims, the softmax over one");
  }
  roles.matmul = id;
  roles.keys = matmul->over[0];
  std::string refusal = "no operand is the result of a softmax";
  for (std::size_t i = 0; i < 2 && roles.weights < 0; ++i) {
    Weights found = weights_below(graph, node.inputs[i], roles.keys, users);
    if (found.softmax < 0) continue;
    roles.softmax = found.softmax;
    refusal = std::move(found.refusal);
    if (!refusal.empty()) continue;
    roles.weights = node.inputs[i];
    roles.value = node.inputs[1 - i];
  }
  if (roles.weights < 0) return refuse(std::move(refusal));
  if (std::string missing = take_value_depth(graph, roles); !missing.empty()) return refuse(std::move(missing));
  roles.log_sum_exp = stored_of_rows(graph, roles, log_sum_exp_beside(graph, roles.softmax));
  roles.row_maximum = stored_of_rows(graph, roles, row_maximum_beside(graph, roles.softmax));
  take_queries(graph, roles);
  if (std::string problem = take_score(graph, users, roles); !problem.empty()) return refuse(std::move(problem));
  return {roles, roles.softmax, "the weights of " + std::string(roles.queries) + " x " + std::string(roles.keys) + " are used by one matmul alone"};
}

}  // namespace attune
