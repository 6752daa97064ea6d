#include <algorithm>

#include "codegen/plan/attention_match.h"

namespace attune {
namespace {

bool has_pair(const Graph& graph, int node, const AttentionRoles& roles) {
  const Names& dims = graph.node(node).type.dims;
  return dims.has(roles.queries) && dims.has(roles.keys);
}

/// The products of the score lie below the node.
bool holds_product(const Graph& graph, int node, const AttentionRoles& roles) {
  return std::ranges::any_of(roles.parts, [&](const KeyPart& part) { return part.product >= 0 && reaches(graph, node, part.product); }) ||
         (roles.parts.empty() && reaches(graph, node, roles.product));
}

/// What lies between the products and the weights.
struct Between {
  bool changes_pairs = false;  ///< some of it could not be moved to queries, keys or values: the weights are no plain chain of products
  bool reads_pairs = false;    ///< a mask or a factor depends on both the query and the key
};

/// Multiplying, dividing and turning the sign by what has one value for a query or for a key.
bool is_plain_factor(const Graph& graph, const Node& node, const AttentionRoles& roles) {
  if (as<Negate>(node) != nullptr || as<Rename>(node) != nullptr) return true;
  const auto in = node.operands();
  const auto is_factor = [&](int operand) { return !holds_product(graph, operand, roles) && !has_pair(graph, operand, roles); };
  if (as<Multiply>(node) != nullptr) return is_factor(in[0]) || is_factor(in[1]);
  return as<Divide>(node) != nullptr && is_factor(in[1]);
}

void look_between(const Graph& graph, int id, const AttentionRoles& roles, Between& between) {
  const Node& node = graph.node(id);
  if (!holds_product(graph, id, roles)) {
    between.reads_pairs |= has_pair(graph, id, roles);
    return;
  }
  if (is_anchor(node)) return;
  between.changes_pairs |= !is_plain_factor(graph, node, roles);
  for (const int operand : node.operands()) look_between(graph, operand, roles, between);
}

/// Every key belongs to a batch index of its own queries, as it does where there are heads or sequences: query, key and value share a dim beside the
/// keys. (A layer's hidden features are the same for all tokens.)
bool share_batch(const Graph& graph, const AttentionRoles& roles) {
  const Names value = graph.node(roles.value).type.dims, query = graph.node(roles.query).type.dims, product = graph.node(roles.product).type.dims;
  const int key = roles.parts.empty() ? roles.key : roles.parts[0].key;
  return std::ranges::any_of(value, [&](Name dim) {
    return dim != roles.keys && dim != roles.value_depth && product.has(dim) && query.has(dim) && (key < 0 || graph.node(key).type.dims.has(dim));
  });
}

/// A matmul below the node, as far as elementwise operations and concats go.
bool is_made_of_product(const Graph& graph, int id) {
  const Node& node = graph.node(id);
  if (as<Matmul>(node) != nullptr) return true;
  return !is_anchor(node) && std::ranges::any_of(node.operands(), [&](int operand) { return is_made_of_product(graph, operand); });
}

/// The sum of the weights over the keys, if all that reads it are changes of the matmul's result.
void take_row_sum(const Graph& graph, const Users& users, AttentionRoles& roles) {
  int sum = -1;
  for (const int user : users[static_cast<std::size_t>(roles.weights)]) {
    const auto* reduction = user < 0 ? nullptr : as<ReduceSum>(graph.node(user));
    if (reduction != nullptr && reduction->over == Names{roles.keys}) sum = user;
  }
  if (sum < 0 || reaches(graph, roles.matmul, sum)) return;
  const std::vector<int> changes = epilogue_of(graph, users, roles.matmul);
  int last = -1;
  std::vector<int> left = users[static_cast<std::size_t>(sum)];
  while (!left.empty()) {
    const int reader = left.back();
    left.pop_back();
    if (std::ranges::find(changes, reader) != changes.end()) {
      last = std::max(last, reader);
      continue;
    }
    const bool changes_rows = reader >= 0 && !is_anchor(graph.node(reader)) && !graph.node(reader).type.dims.has(roles.value_depth);
    if (!changes_rows) return;
    const std::vector<int>& readers = users[static_cast<std::size_t>(reader)];
    left.insert(left.end(), readers.begin(), readers.end());
  }
  // Up to there nothing else than the matmul has all dims of the result: it is no other sum.
  for (const int change : changes)
    for (const int operand : graph.node(change).operands()) {
      const bool is_own = operand == roles.matmul || std::ranges::find(changes, operand) != changes.end();
      if (change <= last && !is_own && graph.node(operand).type.dims.has(roles.value_depth)) return;
    }
  if (last < 0) return;
  roles.row_sum = sum;
  roles.last_of_row_sum = last;
}

/// The roles with one operand of the matmul as weights, or the reason against it.
AttentionAnswer match_weights(const Graph& graph, const Users& users, AttentionRoles roles) {
  const auto refuse = [](std::string reason) { return AttentionAnswer{std::nullopt, -1, std::move(reason)}; };
  if (!is_made_of_product(graph, roles.weights) || !take_dims(graph, roles).empty()) return {};
  take_row_sum(graph, users, roles);
  std::string problem = take_score(graph, users, roles);
  if (roles.product < 0) return {};
  if (match_online_softmax(graph, users, roles.product).roles || match_weighted_sum(graph, users, roles.product).roles) return {};
  Between between;
  look_between(graph, roles.weights, roles, between);
  if (!between.changes_pairs) return {};
  if (!between.reads_pairs && !share_batch(graph, roles))
    return refuse("the weights are a hidden layer: queries, keys and values share no dim, and no mask is between the products");
  if (!problem.empty()) return refuse(std::move(problem));
  return {roles, -1, "the weights of " + std::string(roles.queries) + " x " + std::string(roles.keys) + " are used by one matmul alone, without a softmax"};
}

/// The roles of a sum of weights alone, each of which is made of a product of its own; or the reason against it.
AttentionAnswer match_total(const Graph& graph, const Users& users, int id) {
  AttentionRoles roles;
  roles.row_sum = id;
  roles.weights = graph.node(id).inputs[0];
  roles.keys = as<ReduceSum>(graph.node(id))->over[0];
  const Names dims = graph.node(roles.weights).type.dims;
  if (!is_made_of_product(graph, roles.weights)) return {};
  for (int i = dims.size() - 1; i >= 0 && roles.product < 0; --i) {
    if (dims[i] == roles.keys) continue;
    roles.queries = dims[i];
    if (std::string problem = take_score(graph, users, roles); !problem.empty()) return {};
  }
  if (roles.product < 0 || !dims.without(graph.node(roles.product).type.dims).empty()) return {};
  if (match_online_softmax(graph, users, roles.product).roles || match_weighted_sum(graph, users, roles.product).roles) return {};
  Between between;
  look_between(graph, roles.weights, roles, between);
  if (!between.changes_pairs) return {};
  return {roles, -1,
          "the sum over " + std::string(roles.keys) + " alone reads what is made of " + std::string(roles.queries) + " x " + std::string(roles.keys)};
}

}  // namespace

AttentionAnswer match_weighted_sum(const Graph& graph, const Users& users, int id) {
  if (const auto* sum = as<ReduceSum>(graph.node(id)); sum != nullptr && sum->over.size() == 1) return match_total(graph, users, id);
  const auto* matmul = as<Matmul>(graph.node(id));
  if (matmul == nullptr || matmul->over.size() != 1) return {};
  AttentionAnswer first;
  for (std::size_t i = 0; i < 2; ++i) {
    AttentionRoles roles;
    roles.matmul = id;
    roles.keys = matmul->over[0];
    roles.weights = graph.node(id).inputs[i];
    roles.value = graph.node(id).inputs[1 - i];
    AttentionAnswer answer = match_weights(graph, users, roles);
    if (answer.roles) return answer;
    if (first.reason.empty()) first = std::move(answer);
  }
  return first;
}

}  // namespace attune
