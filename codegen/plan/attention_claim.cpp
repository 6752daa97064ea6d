#include <algorithm>

#include "codegen/plan/kept_weights.h"
#include "codegen/plan/planning.h"

namespace attune {
namespace {

/// The sums over pairs inside a score, which hold no other anchor of pairs. `seen`: what was looked at.
void collect_sums(const Graph& graph, int id, const AttentionRoles& roles, std::set<int>& sums, std::set<int>& seen) {
  if (!seen.insert(id).second) return;
  const Node& node = graph.node(id);
  const bool has_both = node.type.dims.has(roles.queries) && node.type.dims.has(roles.keys);
  if (is_anchor(node) && (!has_both || holds_pairs(graph, id, roles.queries, roles.keys))) return;
  if (is_anchor(node)) sums.insert(id);
  for (std::size_t i = 0; i < node.operands().size(); ++i)
    if (!reads_elsewhere(node, i, roles.keys)) collect_sums(graph, node.operands()[i], roles, sums, seen);
}

/// Products of the score, or sums over pairs in it.
std::set<int> products_of(const Graph& graph, const AttentionRoles& roles) {
  std::set<int> products, seen;
  for (const KeyPart& part : roles.parts)
    if (part.product >= 0) products.insert(part.product);
  if (roles.product >= 0)
    products.insert(roles.product);
  else
    collect_sums(graph, roles.score(graph), roles, products, seen);
  return products;
}

/// The one matmul that takes the weights if nothing but `user` reads them; nothing if there is none.
std::optional<KeptWeights> kept_weights_of(const Graph& graph, Users users, int softmax, int user) {
  users[static_cast<std::size_t>(softmax)] = {user};
  for (int id = softmax + 1; id < static_cast<int>(graph.nodes().size()); ++id) {
    if (!std::holds_alternative<Matmul>(graph.node(id).op) || !reaches(graph, id, user)) continue;
    const AttentionAnswer answer = match_online_softmax(graph, users, id);
    if (answer.roles && answer.roles->softmax == softmax) return KeptWeights{softmax, user, id, products_of(graph, *answer.roles)};
  }
  return std::nullopt;
}

/// What both kinds have of their roles: the first that the stage's graph holds, from its end.
template <class Roles, class Match>
std::optional<Roles> found_in(const Graph& stage, Match match) {
  const Users users = users_of(stage);
  for (int id = static_cast<int>(stage.nodes().size()) - 1; id >= 0; --id)
    if (const AttentionAnswer answer = match(stage, users, id); answer.roles) return Roles{*answer.roles};
  return std::nullopt;
}

/// A claim of the kind whose roles have a softmax, or have none.
template <class Roles>
std::optional<Claim> claimed(const Planning& planning, int node, bool has_softmax) {
  const auto answer = planning.attentions().find(node);
  if (answer == planning.attentions().end() || !answer->second.roles) return std::nullopt;
  const AttentionRoles& roles = *answer->second.roles;
  if ((roles.softmax >= 0) != has_softmax) return std::nullopt;
  Claim claim{Roles{roles}, answer->second.reason, products_of(planning.graph(), roles), true, roles.last_of_row_sum};
  for (const int inside : {roles.softmax, roles.log_sum_exp, roles.row_maximum, roles.row_sum})
    if (inside >= 0 && inside != node) claim.inside.insert(inside);
  return claim;
}

}  // namespace

AttentionAnswer match_attention(const Graph& graph, const Users& users, int id) {
  AttentionAnswer answer = match_online_softmax(graph, users, id);
  if (!answer.roles && answer.softmax < 0)
    if (AttentionAnswer without = match_weighted_sum(graph, users, id); !without.reason.empty()) answer = std::move(without);
  return answer;
}

Planning::Planning(const Graph& graph, bool is_fusing) : graph_(graph), is_fusing_(is_fusing), users_(attune::users_of(graph)) {
  if (!is_fusing) return;
  for (int id = 0; id < static_cast<int>(graph.nodes().size()); ++id) {
    const Node& node = graph.node(id);
    if (as<Matmul>(node) == nullptr && !reduced_dim(node)) continue;
    attentions_.emplace(id, match_attention(graph, users_, id));
  }
}

std::optional<OnlineSoftmaxRoles> OnlineSoftmaxRoles::find(const Graph& stage) { return found_in<OnlineSoftmaxRoles>(stage, match_online_softmax); }
std::optional<Claim> OnlineSoftmaxRoles::claim(const Planning& planning, int node) { return claimed<OnlineSoftmaxRoles>(planning, node, true); }

std::optional<WeightedSumRoles> WeightedSumRoles::find(const Graph& stage) { return found_in<WeightedSumRoles>(stage, match_weighted_sum); }
std::optional<Claim> WeightedSumRoles::claim(const Planning& planning, int node) { return claimed<WeightedSumRoles>(planning, node, false); }

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
