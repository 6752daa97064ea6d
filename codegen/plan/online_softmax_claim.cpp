#include <algorithm>

#include "codegen/plan/kept_weights.h"
#include "codegen/plan/planning.h"

namespace attune {
namespace {

/// The sums over pairs inside a score.
void collect_sums(const Graph& graph, int id, const OnlineSoftmaxRoles& roles, std::set<int>& sums) {
  const Node& node = graph.node(id);
  const bool has_both = node.type.dims.has(roles.queries) && node.type.dims.has(roles.keys);
  if (is_anchor(node) && !has_both) return;
  if (is_anchor(node)) sums.insert(id);
  for (int operand : node.operands()) collect_sums(graph, operand, roles, sums);
}

/// Products of the score, or sums over pairs in it.
std::set<int> products_of(const Graph& graph, const OnlineSoftmaxRoles& roles) {
  std::set<int> products;
  for (const KeyPart& part : roles.parts)
    if (part.product >= 0) products.insert(part.product);
  if (roles.product >= 0)
    products.insert(roles.product);
  else
    collect_sums(graph, graph.node(roles.softmax).inputs[0], roles, products);
  return products;
}

/// The one matmul that takes the weights if nothing but `user` reads them; nothing if there is none.
std::optional<KeptWeights> kept_weights_of(const Graph& graph, Users users, int softmax, int user) {
  users[static_cast<std::size_t>(softmax)] = {user};
  for (int id = softmax + 1; id < static_cast<int>(graph.nodes().size()); ++id) {
    if (!std::holds_alternative<Matmul>(graph.node(id).op)) continue;
    const OnlineSoftmaxAnswer answer = match_online_softmax(graph, users, id);
    if (answer.roles && answer.roles->softmax == softmax) return KeptWeights{softmax, user, id, products_of(graph, *answer.roles)};
  }
  return std::nullopt;
}

}  // namespace

Planning::Planning(const Graph& graph, bool is_fusing) : graph_(graph), is_fusing_(is_fusing), users_(attune::users_of(graph)) {
  if (!is_fusing) return;
  for (int id = 0; id < static_cast<int>(graph.nodes().size()); ++id)
    if (std::holds_alternative<Matmul>(graph.node(id).op)) online_softmaxes_.emplace(id, match_online_softmax(graph, users_, id));
}

std::optional<OnlineSoftmaxRoles> OnlineSoftmaxRoles::find(const Graph& stage) {
  const Users users = users_of(stage);
  OnlineSoftmaxAnswer answer;
  for (int id = static_cast<int>(stage.nodes().size()) - 1; id >= 0 && !answer.roles; --id) answer = match_online_softmax(stage, users, id);
  return std::move(answer.roles);
}

std::optional<Claim> OnlineSoftmaxRoles::claim(const Planning& planning, int node) {
  const auto answer = planning.online_softmaxes().find(node);
  if (answer == planning.online_softmaxes().end() || !answer->second.roles) return std::nullopt;
  const OnlineSoftmaxRoles& roles = *answer->second.roles;
  Claim claim{roles, answer->second.reason, products_of(planning.graph(), roles), true};
  claim.inside.insert(roles.softmax);
  if (roles.log_sum_exp >= 0) claim.inside.insert(roles.log_sum_exp);
  return claim;
}

std::vector<KeptWeights> weights_kept_beside(const Graph& graph) {
  const Users users = users_of(graph);
  std::vector<KeptWeights> all;
  for (int softmax = 0; softmax < static_cast<int>(graph.nodes().size()); ++softmax) {
    const std::vector<int>& readers = users[static_cast<std::size_t>(softmax)];
    if (!std::holds_alternative<Softmax>(graph.node(softmax).op) || readers.size() < 2) continue;
    std::vector<KeptWeights> ways;
    for (const int user : readers)
      if (user != output_user)
        if (std::optional<KeptWeights> way = kept_weights_of(graph, users, softmax, user)) ways.push_back(std::move(*way));
    if (ways.size() != 1) continue;
    const bool depends_on_others = std::ranges::any_of(readers, [&](int reader) {
      return reader != output_user && reader != ways[0].user && reaches(graph, ways[0].matmul, reader);
    });
    if (!depends_on_others) all.push_back(std::move(ways[0]));
  }
  return all;
}

}  // namespace attune
