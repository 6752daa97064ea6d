#include "codegen/plan/shared_scores.h"

#include <algorithm>

#include "codegen/plan/attention_match.h"
#include "codegen/plan/kept_weights.h"

namespace attune {
namespace {

/// The node and all below it, but for `ends` and what is below these alone.
std::set<int> cone_of(const Graph& graph, int id, const std::set<int>& ends = {}) {
  std::set<int> cone;
  look_below(graph, id, [&](int next) { return !ends.contains(next) && cone.insert(next).second; });
  return cone;
}

/// The users that nodes would have if those of `cone` were read by one another alone.
Users users_within(const std::set<int>& cone, Users users) {
  for (const int id : cone)
    std::erase_if(users[static_cast<std::size_t>(id)], [&](int user) { return !cone.contains(user); });
  return users;
}

std::set<int> products_of(const AttentionRoles& roles) {
  std::set<int> products;
  for (const KeyPart& part : roles.parts) products.insert(part.product);
  products.insert(roles.product);
  products.erase(-1);
  return products;
}

/// Matmuls that no stage computes with their scores as they are read, and none with its weights kept beside.
std::vector<int> left_alone(const Graph& graph, const Users& users) {
  const std::vector<KeptWeights> kept = weights_kept_beside(graph);
  std::vector<int> matmuls;
  for (int id = 0; id < static_cast<int>(graph.nodes().size()); ++id)
    if (as<Matmul>(graph.node(id)) != nullptr && !match_attention(graph, users, id).roles && std::ranges::find(kept, id, &KeptWeights::matmul) == kept.end())
      matmuls.push_back(id);
  return matmuls;
}

/// What one stage could compute with the node, if it had all of `cone` to itself.
AttentionAnswer match_alone(const Graph& graph, const Users& users, int id, const std::set<int>& cone) {
  Users alone = users_within(cone, users);
  alone[static_cast<std::size_t>(id)] = users[static_cast<std::size_t>(id)];
  return match_attention(graph, alone, id);
}

/// Those of the cone that hold one of the products, and are not `id`.
std::set<int> holding(const Graph& graph, int id, const std::set<int>& cone, const std::set<int>& products) {
  std::set<int> nodes;
  for (const int node : cone)
    if (node != id && std::ranges::any_of(products, [&](int product) { return reaches(graph, node, product); })) nodes.insert(node);
  return nodes;
}

/// Reductions of rows below the matmul that share their scores, if with scores of their own they were stages, and so were the matmul.
std::optional<SharedScores> shared_with_rows(const Graph& graph, const Users& users, int matmul) {
  std::set<int> rows;
  std::optional<SharedScores> first;
  for (const int id : cone_of(graph, matmul)) {
    if (!reduced_dim(graph.node(id)) || match_attention(graph, users, id).roles) continue;
    const std::set<int> cone = cone_of(graph, id);
    const AttentionAnswer answer = match_alone(graph, users, id, cone);
    if (!answer.roles) continue;
    rows.insert(id);
    if (!first) first = SharedScores{id, holding(graph, id, cone, products_of(*answer.roles))};
  }
  return first && match_alone(graph, users, matmul, cone_of(graph, matmul, rows)).roles ? first : std::nullopt;
}

}  // namespace

std::optional<SharedScores> shared_scores(const Graph& graph) {
  const Users users = users_of(graph);
  std::optional<SharedScores> first;
  for (const int id : left_alone(graph, users)) {
    const std::set<int> cone = cone_of(graph, id);
    const AttentionAnswer answer = match_alone(graph, users, id, cone);
    const std::set<int> products = answer.roles ? products_of(*answer.roles) : std::set<int>{};
    if (products.empty()) {
      if (!first) first = shared_with_rows(graph, users, id);
      continue;
    }
    SharedScores found{id, holding(graph, id, cone, products)};
    const int softmax = answer.roles->softmax;
    if (softmax < 0 || users[static_cast<std::size_t>(softmax)].size() == 1) return found;
    if (!first) first = std::move(found);
  }
  return first;
}

}  // namespace attune
