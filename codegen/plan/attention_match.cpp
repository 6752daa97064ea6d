#include "codegen/plan/attention_match.h"

#include <algorithm>
#include <set>

namespace attune {
namespace {

struct Score {
  std::set<int> cone;          // elementwise nodes below the softmax, and pairwise sums
  std::vector<int> products;   // matmuls of something with queries and something with keys
  std::vector<int> stored;     // other anchors with both dims: they would be stored whole
};

/// What a score is made of. An anchor without both dims is a value of another stage, and so is what is read at other places than the score's, and a sum
/// over pairs that holds another anchor of pairs.
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
    if (holds_pairs(graph, id, queries, keys)) return;
    // a sum over pairs, such as additive attention's: it is computed per element, its terms are never stored
  }
  score.cone.insert(id);
  for (std::size_t i = 0; i < node.operands().size(); ++i)
    if (!reads_elsewhere(node, i, keys)) explore(graph, node.operands()[i], queries, keys, score);
}

/// The values below the terms of a sum over pairs that depend on the one dim and not on the other: the largest such.
void find_sides(const Graph& graph, int id, Name has, Name lacks, std::set<int>& sides) {
  look_below(graph, id, [&](int next) {
    const Names& dims = graph.node(next).type.dims;
    const bool is_side = dims.has(has) && !dims.has(lacks);
    if (is_side) sides.insert(next);
    return dims.has(has) && !is_side;
  });
}

/// The terms of the only sum over pairs in the score, if they need one value of the query and one of the key.
void match_sum(const Graph& graph, const std::set<int>& cone, AttentionRoles& roles) {
  std::vector<int> sums;
  for (int id : cone)
    if (is_anchor(graph.node(id))) sums.push_back(id);
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
void take_product(const Graph& graph, int id, AttentionRoles& roles) {
  const Node& product = graph.node(id);
  const bool is_first = graph.node(product.inputs[0]).type.dims.has(roles.queries);
  roles.product = id;
  roles.query = product.inputs[is_first ? 0 : 1];
  roles.key = product.inputs[is_first ? 1 : 0];
}

/// The matmuls of queries and of keys called `along` below a part of a concat, each once, as far as elementwise operations go.
void find_part_products(const Graph& graph, int id, Name queries, Name along, std::set<int>& products) {
  look_below(graph, id, [&](int next) {
    const Node& node = graph.node(next);
    if (as<Matmul>(node) != nullptr && node.type.dims.has(queries) && node.type.dims.has(along)) products.insert(next);
    return std::visit([]<class Op>(const Op&) { return PointwiseOp<Op>; }, node.op);
  });
}

/// The parts of a concat of scores, if each has one product at most and all are of the same queries; else nothing.
std::vector<KeyPart> parts_of(const Graph& graph, const Node& node, const AttentionRoles& roles) {
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
      AttentionRoles own = roles;
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
std::set<int> ends(const AttentionRoles& roles) {
  std::set<int> made =
      roles.softmax < 0 ? std::set{roles.result(), roles.row_sum} : std::set{roles.softmax, roles.log_sum_exp, roles.row_maximum};
  made.erase(-1);
  return made;
}

/// Something else than what the stage makes of the score needs a product or a sum of it, as it is or changed: another stage would compute it again.
bool is_read_outside(const Graph& graph, const std::set<int>& cone, const AttentionRoles& roles, const Users& users) {
  const std::set<int> made = ends(roles);
  std::set<int> holding;  // a product or a sum
  for (const int inside : cone) {
    const auto operands = graph.node(inside).operands();
    const bool is_holding = is_anchor(graph.node(inside)) || std::ranges::any_of(operands, [&](int operand) { return holding.contains(operand); });
    if (!is_holding) continue;
    holding.insert(inside);
    const auto is_elsewhere = [&](int user) {
      if (user == output_user) return true;
      const auto read = graph.node(user).operands();
      for (std::size_t i = 0; i < read.size(); ++i)
        if (read[i] == inside && reads_elsewhere(graph.node(user), i, roles.keys)) return true;
      return false;
    };
    const auto is_outside = [&](int user) { return (!cone.contains(user) && !made.contains(user)) || is_elsewhere(user); };
    if (std::ranges::any_of(users[static_cast<std::size_t>(inside)], is_outside)) return true;
  }
  return false;
}

/// Takes the parts of the only concat of products in the score; their products, which are in no other stage then, join the cone.
void match_parts(const Graph& graph, std::set<int>& cone, AttentionRoles& roles, const Users& users) {
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
  if (is_read_outside(graph, whole, roles, users)) return roles.parts.clear();
  for (const KeyPart& part : roles.parts) {
    if (part.product < 0) continue;
    take_product(graph, part.product, roles);
    cone.insert(part.product);
  }
  roles.key = -1;
}

/// The products of the score lie below the node.
bool holds_product(const Graph& graph, int node, const AttentionRoles& roles) {
  return std::ranges::any_of(roles.parts, [&](const KeyPart& part) { return part.product >= 0 && reaches(graph, node, part.product); }) ||
         (roles.parts.empty() && reaches(graph, node, roles.product));
}

/// Made of a real number of each pair that memory holds anyway: a bias of scores, or what a layer's product is added to.
bool is_in_memory(const Graph& graph, int id, const AttentionRoles& roles) {
  bool is_found = false;
  look_below(graph, id, [&](int next) {
    const Node& node = graph.node(next);
    if (is_found || !has_pair(graph, next, roles)) return false;
    const bool is_end = as<Input>(node) != nullptr || is_anchor(node);
    is_found |= is_end && node.type.kind == Kind::real;
    return !is_end;
  });
  return is_found;
}

/// Multiplying, dividing and turning the sign by what has one value for a query or for a key.
bool is_plain_factor(const Graph& graph, const Node& node, const AttentionRoles& roles) {
  if (as<Negate>(node) != nullptr || as<Rename>(node) != nullptr) return true;
  const auto in = node.operands();
  const auto is_factor = [&](int operand) { return !holds_product(graph, operand, roles) && !has_pair(graph, operand, roles); };
  if (as<Multiply>(node) != nullptr) return is_factor(in[0]) || is_factor(in[1]);
  return as<Divide>(node) != nullptr && is_factor(in[1]);
}

}  // namespace

bool is_made_of_product(const Graph& graph, int id) {
  bool is_found = false;
  look_below(graph, id, [&](int next) {
    is_found |= as<Matmul>(graph.node(next)) != nullptr;
    return !is_found && !is_anchor(graph.node(next));
  });
  return is_found;
}

Between between_products_and(const Graph& graph, int weights, const AttentionRoles& roles) {
  Between between;
  look_below(graph, weights, [&](int next) {
    const bool is_above_product = holds_product(graph, next, roles);
    if (!is_above_product) between.judges_pairs |= has_pair(graph, next, roles) && !is_in_memory(graph, next, roles);
    if (!is_above_product || is_anchor(graph.node(next))) return false;
    between.changes_pairs |= !is_plain_factor(graph, graph.node(next), roles);
    return true;
  });
  return between;
}

int stored_of_rows(const Graph& graph, const AttentionRoles& roles, int id) {
  if (id < 0 || reaches(graph, roles.result(), id)) return -1;
  const Names rows = graph.node(roles.result()).type.dims.without({roles.value_depth});
  return rows.size() == graph.node(id).type.dims.size() ? id : -1;
}

namespace {

/// The dims that may be the queries: first those whose positions the weights depend on, then one of the name, then the innermost.
std::vector<Name> by_likelihood(const Graph& graph, const AttentionRoles& roles) {
  Names indexed;
  look_below(graph, roles.weights, [&](int next) {
    if (const auto* index = as<Index>(graph.node(next)); index != nullptr && !indexed.has(index->dim)) indexed.add(index->dim);
    return as<Matmul>(graph.node(next)) == nullptr;
  });
  const Names all = query_dims(graph, roles);
  std::vector<Name> dims(all.begin(), all.end());
  std::ranges::reverse(dims);
  std::ranges::stable_sort(dims, std::greater(), [&](Name dim) { return std::pair(indexed.has(dim), dim == "queries"); });
  return dims;
}

}  // namespace

std::string take_value_depth(const Graph& graph, AttentionRoles& roles) {
  const Names value_only = graph.node(roles.value).type.dims.without(graph.node(roles.weights).type.dims);
  if (value_only.size() != 1) return "the values have " + std::to_string(value_only.size()) + " dims of their own; one is needed";
  if (query_dims(graph, roles).empty()) return "the weights have no dim of queries";
  roles.value_depth = value_only[0];
  return {};
}

Names query_dims(const Graph& graph, const AttentionRoles& roles) {
  return graph.node(roles.weights).type.dims.without(graph.node(roles.value).type.dims);
}

std::string take_score(const Graph& graph, const Users& users, AttentionRoles& roles) {
  Score score;
  explore(graph, roles.score(graph), roles.queries, roles.keys, score);
  if (roles.row_sum >= 0) explore(graph, graph.node(roles.row_sum).inputs[0], roles.queries, roles.keys, score);
  if (!score.stored.empty()) return "the scores hold the result of another " + name_of(graph.node(score.stored[0])) + ", which is stored whole";
  if (score.products.size() > 1) return "the scores hold " + std::to_string(score.products.size()) + " products of queries and keys; one can be computed in tiles";
  if (score.products.empty()) match_parts(graph, score.cone, roles, users);
  if (!score.products.empty()) {
    take_product(graph, score.products[0], roles);
    score.cone.insert(roles.product);
  } else if (roles.parts.empty()) {
    match_sum(graph, score.cone, roles);
  }
  return is_read_outside(graph, score.cone, roles, users) ? "the scores are used elsewhere too and must be stored" : std::string();
}

void take_queries(const Graph& graph, AttentionRoles& roles) {
  const std::vector<Name> dims = by_likelihood(graph, roles);
  // Of a product one of whose operands has pairs of this dim and the keys each element would be a loop of its own.
  const auto is_of_one_operand = [&](Name queries) {
    Score score;
    explore(graph, roles.score(graph), queries, roles.keys, score);
    return std::ranges::none_of(score.cone, [&](int id) { return as<Matmul>(graph.node(id)) != nullptr; });
  };
  const auto found = std::ranges::find_if(dims, is_of_one_operand);
  roles.queries = found == dims.end() ? dims.front() : *found;
}

}  // namespace attune
