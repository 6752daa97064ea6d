/// Reductions of rows of scores that nothing sums values by: ColBERT's greatest similarities, the total of a loss over a vocabulary.
#include "codegen/plan/attention_match.h"

namespace attune {
namespace {

/// The greatest score, or the logarithm, needs each of them. A sum of plain products does not: it is a product with a sum.
bool needs_pairs(const Graph& graph, const AttentionRoles& roles) {
  return as<ReduceSum>(graph.node(roles.reduction)) == nullptr || between_products_and(graph, roles.weights, roles).changes_pairs;
}

}  // namespace

AttentionAnswer match_reduction(const Graph& graph, const Users& users, int id) {
  const Node& node = graph.node(id);
  const std::optional<Name> keys = reduced_dim(node);
  if (!keys || !is_made_of_product(graph, node.inputs[0])) return {};
  AttentionRoles roles;
  roles.reduction = id;
  roles.keys = *keys;
  if (as<LogSumExp>(node) != nullptr) {
    roles.softmax = id;
    roles.row_maximum = stored_of_rows(graph, roles, row_maximum_beside(graph, id));
  } else {
    roles.weights = node.inputs[0];
  }
  const Names dims = graph.node(node.inputs[0]).type.dims;
  for (int i = dims.size() - 1; i >= 0 && roles.product < 0; --i) {
    if (dims[i] == roles.keys) continue;
    roles.queries = dims[i];
    if (std::string problem = take_score(graph, users, roles); !problem.empty()) return {};
  }
  if (roles.product < 0 || !dims.without({roles.keys}).without(graph.node(roles.product).type.dims).empty()) return {};
  if (match_online_softmax(graph, users, roles.product).roles || match_weighted_sum(graph, users, roles.product).roles) return {};
  if (!needs_pairs(graph, roles)) return {};
  const std::string name = as<ReduceSum>(node) != nullptr ? "sum" : as<ReduceMax>(node) != nullptr ? "maximum" : "log_sum_exp";
  return {roles, -1,
          "the " + name + " over " + std::string(roles.keys) + " alone reads what is made of " + std::string(roles.queries) + " x " + std::string(roles.keys)};
}

}  // namespace attune
