#include <algorithm>
#include <set>

#include "codegen/plan/planning.h"

namespace attune {
namespace {

template <class Op>
const Op* as(const Node& node) {
  return std::get_if<Op>(&node.op);
}

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

std::string name_of(const Node& node) {
  return std::string(std::visit([]<class Op>(const Op&) { return Op::name; }, node.op));
}

/// A softmax (over the dim, if one is given) whose weights come to the node through elementwise operations alone, or -1.
int nearest_softmax(const Graph& graph, int id, std::optional<Name> over = std::nullopt) {
  const Node& node = graph.node(id);
  if (const auto* softmax = as<Softmax>(node)) return !over || softmax->over == *over ? id : -1;
  if (is_anchor(node)) return -1;
  for (const int operand : node.operands())
    if (const int found = nearest_softmax(graph, operand, over); found >= 0) return found;
  return -1;
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

struct Score {
  std::set<int> cone;          // elementwise nodes below the softmax, and pairwise sums
  std::vector<int> products;   // matmuls of something with queries and something with keys
  std::vector<int> stored;     // other anchors with both dims: they would be stored whole
};

/// What a score is made of. An anchor without both dims is a value of another stage.
void explore(const Graph& graph, int id, Name queries, Name keys, Score& score) {
  const Node& node = graph.node(id);
  const bool has_both = node.type.dims.has(queries) && node.type.dims.has(keys);
  if (score.cone.contains(id) || as<Input>(node) != nullptr) return;
  if (is_anchor(node)) {
    if (!has_both) return;
    if (as<Matmul>(node) != nullptr) {
      const Names &a = graph.node(node.inputs[0]).type.dims, &b = graph.node(node.inputs[1]).type.dims;
      const auto is_pair = [&](const Names& d) { return d.has(queries) && d.has(keys); };
      if (!is_pair(a) && !is_pair(b)) {
        if (std::ranges::find(score.products, id) == score.products.end()) score.products.push_back(id);
        return;
      }
    } else if (as<ReduceSum>(node) == nullptr) {
      score.stored.push_back(id);
      return;
    }
    // a sum over pairs, such as additive attention's: it is computed per element, its terms are never stored
  }
  score.cone.insert(id);
  for (int operand : node.operands()) explore(graph, operand, queries, keys, score);
}

/// The values below the terms of a sum over pairs that depend on the one dim and not on the other: the largest such.
void find_sides(const Graph& graph, int id, Name has, Name lacks, std::set<int>& sides) {
  const Names& dims = graph.node(id).type.dims;
  if (dims.has(has) && !dims.has(lacks)) {
    sides.insert(id);
    return;
  }
  if (dims.has(has))
    for (int operand : graph.node(id).operands()) find_sides(graph, operand, has, lacks, sides);
}

/// The terms of the only sum over pairs in the score, if they need one value of the query and one of the key.
void match_sum(const Graph& graph, const std::set<int>& cone, OnlineSoftmaxRoles& roles) {
  std::vector<int> sums;
  for (int id : cone)
    if (is_anchor(graph.node(id)) && id != roles.softmax) sums.push_back(id);
  if (sums.size() != 1) return;
  std::set<int> queries, keys;
  for (int operand : graph.node(sums[0]).operands()) {
    find_sides(graph, operand, roles.queries, roles.keys, queries);
    find_sides(graph, operand, roles.keys, roles.queries, keys);
  }
  if (queries.size() != 1 || keys.size() != 1) return;
  roles.sum = sums[0];
  roles.query = *queries.begin();
  roles.key = *keys.begin();
}

/// The product's operands by side.
void take_product(const Graph& graph, int id, OnlineSoftmaxRoles& roles) {
  const Node& product = graph.node(id);
  const bool is_first = graph.node(product.inputs[0]).type.dims.has(roles.queries);
  roles.product = id;
  roles.query = product.inputs[is_first ? 0 : 1];
  roles.key = product.inputs[is_first ? 1 : 0];
}

/// The matmuls of queries and of keys called `along` below a part of a concat, each once, as far as elementwise operations go.
void find_part_products(const Graph& graph, int id, Name queries, Name along, std::set<int>& products) {
  const Node& node = graph.node(id);
  if (as<Matmul>(node) != nullptr && node.type.dims.has(queries) && node.type.dims.has(along)) products.insert(id);
  if (!std::visit([]<class Op>(const Op&) { return PointwiseOp<Op>; }, node.op)) return;
  for (const int operand : node.operands()) find_part_products(graph, operand, queries, along, products);
}

/// The parts of a concat of scores, if each has one product at most and all are of the same queries; else nothing.
std::vector<KeyPart> parts_of(const Graph& graph, const Node& node, const OnlineSoftmaxRoles& roles) {
  const Concat& concat = *as<Concat>(node);
  std::vector<KeyPart> parts;
  int query = -1;
  Names over;
  for (std::size_t i = 0; i < node.operands().size(); ++i) {
    KeyPart part{-1, -1, concat.along_of(i)};
    std::set<int> products;
    find_part_products(graph, node.operands()[i], roles.queries, part.along, products);
    if (products.size() > 1) return {};
    if (!products.empty()) {
      OnlineSoftmaxRoles own = roles;
      take_product(graph, *products.begin(), own);
      const Names& own_over = as<Matmul>(graph.node(own.product))->over;
      const Names& key_dims = graph.node(own.key).type.dims;
      if (graph.node(own.query).type.dims.has(part.along) || key_dims.has(roles.queries) || key_dims.has(roles.keys)) return {};
      if (query >= 0 && (own.query != query || own_over != over)) return {};
      query = own.query, over = own_over;
      part.product = own.product, part.key = own.key;
    }
    parts.push_back(part);
  }
  return query >= 0 ? parts : std::vector<KeyPart>{};
}

/// What may be made of the score.
void add_ends(const OnlineSoftmaxRoles& roles, std::set<int>& cone) {
  cone.insert(roles.softmax);
  if (roles.log_sum_exp >= 0) cone.insert(roles.log_sum_exp);
}

/// Something else than the softmax and its logarithm needs a product or a sum of the score, as it is or changed: another stage would compute it again.
bool is_read_outside(const Graph& graph, const std::set<int>& cone, const OnlineSoftmaxRoles& roles, const Users& users) {
  std::set<int> holding;  // a product or a sum
  for (const int inside : cone) {
    if (inside == roles.softmax || inside == roles.log_sum_exp) continue;
    const auto operands = graph.node(inside).operands();
    const bool is_holding = is_anchor(graph.node(inside)) || std::ranges::any_of(operands, [&](int operand) { return holding.contains(operand); });
    if (!is_holding) continue;
    holding.insert(inside);
    if (std::ranges::any_of(users[static_cast<std::size_t>(inside)], [&](int user) { return !cone.contains(user); })) return true;
  }
  return false;
}

/// Takes the parts of the only concat of products in the score; their products, which are in no other stage then, join the cone.
void match_parts(const Graph& graph, std::set<int>& cone, OnlineSoftmaxRoles& roles, const Users& users) {
  for (const int id : cone) {
    const auto* concat = as<Concat>(graph.node(id));
    if (concat == nullptr || concat->into != roles.keys) continue;
    std::vector<KeyPart> parts = parts_of(graph, graph.node(id), roles);
    if (parts.empty()) continue;
    if (!roles.parts.empty()) return roles.parts.clear();
    roles.parts = std::move(parts);
  }
  std::set<int> whole = cone;
  for (const KeyPart& part : roles.parts)
    if (part.product >= 0) whole.insert(part.product);
  add_ends(roles, whole);
  if (is_read_outside(graph, whole, roles, users)) return roles.parts.clear();
  for (const KeyPart& part : roles.parts) {
    if (part.product < 0) continue;
    take_product(graph, part.product, roles);
    cone.insert(part.product);
  }
  roles.key = -1;
}

/// The logarithm of what the softmax divides by, if the stage can store it: one for each row of its result, and nothing that it reads depends on it.
int stored_log_sum_exp(const Graph& graph, const OnlineSoftmaxRoles& roles) {
  const int id = log_sum_exp_beside(graph, roles.softmax);
  if (id < 0 || reaches(graph, roles.matmul, id)) return -1;
  const Names rows = graph.node(roles.matmul).type.dims.without({roles.value_depth});
  return rows.size() == graph.node(id).type.dims.size() ? id : -1;
}

}  // namespace

OnlineSoftmaxAnswer match_online_softmax(const Graph& graph, const Users& users, int id) {
  OnlineSoftmaxRoles roles;
  const auto refuse = [&](std::string reason) { return OnlineSoftmaxAnswer{std::nullopt, roles.softmax, std::move(reason)}; };
  const Node& node = graph.node(id);
  const auto* matmul = as<Matmul>(node);
  if (matmul == nullptr) return refuse("is no matmul");
  if (matmul->over.size() != 1) {
    roles.softmax = std::max(nearest_softmax(graph, node.inputs[0]), nearest_softmax(graph, node.inputs[1]));
    return refuse(roles.softmax < 0 ? "no operand is the result of a softmax" : "the matmul runs over several dims, the softmax over one");
  }
  roles.matmul = id;
  roles.keys = matmul->over[0];
  int weights = -1;
  std::string refusal = "no operand is the result of a softmax";
  for (std::size_t i = 0; i < 2 && weights < 0; ++i) {
    Weights found = weights_below(graph, node.inputs[i], roles.keys, users);
    if (found.softmax < 0) continue;
    roles.softmax = found.softmax;
    refusal = std::move(found.refusal);
    if (!refusal.empty()) continue;
    weights = node.inputs[i];
    roles.value = node.inputs[1 - i];
  }
  if (weights < 0) return refuse(std::move(refusal));

  const Names &weight_dims = graph.node(weights).type.dims, &value_dims = graph.node(roles.value).type.dims;
  const Names value_only = value_dims.without(weight_dims);
  const Names query_dims = weight_dims.without(value_dims);
  if (value_only.size() != 1) return refuse("the values have " + std::to_string(value_only.size()) + " dims of their own; one is needed");
  if (query_dims.empty()) return refuse("the weights have no dim of queries");
  roles.value_depth = value_only[0];
  roles.queries = query_dims.has("queries") ? Name("queries") : query_dims[query_dims.size() - 1];

  roles.log_sum_exp = stored_log_sum_exp(graph, roles);

  Score score;
  explore(graph, graph.node(roles.softmax).inputs[0], roles.queries, roles.keys, score);
  if (!score.stored.empty()) return refuse("the scores hold the result of another " + name_of(graph.node(score.stored[0])) + ", which is stored whole");
  if (score.products.size() > 1) return refuse("the scores hold " + std::to_string(score.products.size()) + " products of queries and keys; one can be computed in tiles");
  if (score.products.empty()) match_parts(graph, score.cone, roles, users);
  if (!score.products.empty()) {
    take_product(graph, score.products[0], roles);
    score.cone.insert(roles.product);
  } else if (roles.parts.empty()) {
    match_sum(graph, score.cone, roles);
  }
  add_ends(roles, score.cone);
  if (is_read_outside(graph, score.cone, roles, users)) return refuse("the scores are used elsewhere too and must be stored");
  return {roles, roles.softmax, "the weights of " + std::string(roles.queries) + " x " + std::string(roles.keys) + " are used by one matmul alone"};
}

}  // namespace attune
