#include <algorithm>
#include <array>
#include <concepts>
#include <limits>
#include <map>
#include <set>

#include "codegen/plan/attention_match.h"
#include "codegen/plan/score_masks.h"

namespace attune {
namespace {

bool share_batch(const Graph& graph, const AttentionRoles& roles) {
  const int key = roles.parts.empty() ? roles.key : roles.parts[0].key;
  const Names value = graph.node(roles.value).type.dims.without({roles.value_depth}), query = graph.node(roles.query).type.dims;
  return share_batch(value, graph.node(roles.product).type.dims, query, key < 0 ? query : graph.node(key).type.dims, roles.keys);
}

/// Who reads a row's total, directly or through numbers of rows.
struct TotalReaders {
  int last_change = -1;      ///< of the changes of the matmul's result, or -1
  std::vector<int> outside;  ///< what else is made of it
  bool is_stored = false;    ///< something else than these changes needs it
};
TotalReaders readers_of_total(const Graph& graph, const Users& users, const AttentionRoles& roles, const std::vector<int>& changes, int sum) {
  TotalReaders found;
  std::vector<int> left = users[static_cast<std::size_t>(sum)];
  while (!left.empty()) {
    const int reader = left.back();
    left.pop_back();
    if (reader == output_user) {
      found.is_stored = true;
    } else if (std::ranges::find(changes, reader) != changes.end()) {
      found.last_change = std::max(found.last_change, reader);
    } else if (is_anchor(graph.node(reader)) || graph.node(reader).type.dims.has(roles.value_depth)) {
      found.is_stored = true;
      found.outside.push_back(reader);
    } else {
      const std::vector<int>& readers = users[static_cast<std::size_t>(reader)];
      left.insert(left.end(), readers.begin(), readers.end());
    }
  }
  return found;
}

/// Takes the sum as the total of the rows, if the stage can use or store it in time: what changes the result up to its last use needs nothing that
/// is made of it elsewhere.
bool take_total(const Graph& graph, const Users& users, AttentionRoles& roles, int sum) {
  if (reaches(graph, roles.matmul, sum)) return false;
  const std::vector<int> changes = epilogue_of(graph, users, roles.matmul);
  const TotalReaders readers = readers_of_total(graph, users, roles, changes, sum);
  const Names rows = graph.node(roles.matmul).type.dims.without({roles.value_depth});
  if (readers.is_stored && rows.size() != graph.node(sum).type.dims.size()) return false;
  for (const int change : changes) {
    if (change > readers.last_change) break;
    for (const int operand : graph.node(change).operands()) {
      // Up to there nothing else than the matmul has all dims of the result: it is no other sum.
      const bool is_own = operand == roles.matmul || std::ranges::find(changes, operand) != changes.end();
      if (!is_own && graph.node(operand).type.dims.has(roles.value_depth)) return false;
      if (!is_own && std::ranges::any_of(readers.outside, [&](int other) { return reaches(graph, operand, other); })) return false;
    }
  }
  if (readers.last_change < 0 && !readers.is_stored) return false;
  roles.row_sum = sum;
  roles.last_of_row_sum = readers.last_change;
  if (readers.is_stored) roles.row_total = sum;
  return true;
}

/// The products of queries and keys below the node.
std::set<int> products_below(const Graph& graph, int id, const AttentionRoles& roles) {
  std::set<int> seen{id}, products;
  std::vector<int> left{id};
  while (!left.empty()) {
    const int next = left.back();
    left.pop_back();
    if (!has_pair(graph, next, roles)) continue;
    if (as<Matmul>(graph.node(next)) != nullptr) products.insert(next);
    if (is_anchor(graph.node(next))) continue;
    for (const int operand : graph.node(next).operands())
      if (seen.insert(operand).second) left.push_back(operand);
  }
  return products;
}

/// The node lies above the product by way of `shared` alone.
bool is_made_of(const Graph& graph, int id, int shared, int product) {
  std::set<int> seen{id};
  std::vector<int> left{id};
  while (!left.empty()) {
    const int next = left.back();
    left.pop_back();
    if (next == product && product != shared) return false;
    if (next == shared || next < product) continue;
    for (const int operand : graph.node(next).operands())
      if (seen.insert(operand).second) left.push_back(operand);
  }
  return true;
}

/// What a function of `shared` is of one value of it, node by node; nothing of a node that depends on anything else.
class ValuesOn {
 public:
  ValuesOn(const Graph& graph, int shared, double value) : graph_(graph) { values_[shared] = value; }

  std::optional<double> of(int id) {
    if (const auto known = values_.find(id); known != values_.end()) return known->second;
    return values_[id] = computed(graph_.node(id));
  }

 private:
  std::optional<double> computed(const Node& node) {
    if (const auto* constant = as<Constant>(node)) return constant->value;
    if (node.type.kind != Kind::real) return std::nullopt;
    std::array<double, max_operands> in{};
    for (std::size_t i = 0; i < node.operands().size(); ++i) {
      const std::optional<double> operand = of(node.operands()[i]);
      if (!operand || graph_.node(node.operands()[i]).type.kind != Kind::real) return std::nullopt;
      in[i] = *operand;
    }
    return std::visit(
        [&]<class Op>(const Op&) -> std::optional<double> {
          if constexpr (!PointwiseOp<Op>) return std::nullopt;
          else if constexpr (Op::arity == 1 && requires { { Op::apply(in[0]) } -> std::same_as<double>; }) return Op::apply(in[0]);
          else if constexpr (Op::arity == 2 && requires { { Op::apply(in[0], in[1]) } -> std::same_as<double>; }) return Op::apply(in[0], in[1]);
          else return std::nullopt;
        },
        node.op);
  }

  const Graph& graph_;
  std::map<int, std::optional<double>> values_;
};

/// Finds what weights and terms of a total have in common: the last value that both are functions of, each 0 of the same number. Their masks are
/// the same.
bool take_shared(const Graph& graph, AttentionRoles& roles, int term) {
  const PeeledScore weights = peel_masks(graph, roles.weights, 0), terms = peel_masks(graph, term, 0);
  const auto is_same = [](const MaskPredicate& a, const MaskPredicate& b) { return a.node == b.node && a.is_hiding == b.is_hiding; };
  if (!std::ranges::equal(weights.predicates, terms.predicates, is_same)) return false;
  const std::set<int> products = products_below(graph, weights.score, roles);
  if (products.size() != 1 || products_below(graph, terms.score, roles) != products) return false;
  const int product = *products.begin();
  for (int id = std::min(weights.score, terms.score); id >= product; --id) {
    const bool is_below_both = reaches(graph, weights.score, id) && reaches(graph, terms.score, id);
    const bool is_between = is_below_both && has_pair(graph, id, roles) && reaches(graph, id, product);
    if (!is_between || !is_made_of(graph, weights.score, id, product) || !is_made_of(graph, terms.score, id, product)) continue;
    for (const double hidden : {0.0, -std::numeric_limits<double>::infinity()})
      if (ValuesOn values(graph, id, hidden); values.of(weights.score) == 0.0 && values.of(terms.score) == 0.0) {
        roles.shared = id;
        roles.hidden = hidden;
        return true;
      }
  }
  return false;
}

/// A sum over the keys that the result depends on, or that is wanted beside it: of the weights, else of another function of what they are made of.
void take_row_sum(const Graph& graph, const Users& users, AttentionRoles& roles) {
  const auto is_total = [&](int id) {
    const auto* sum = id < 0 ? nullptr : as<ReduceSum>(graph.node(id));
    return sum != nullptr && sum->over == Names{roles.keys};
  };
  for (const int user : users[static_cast<std::size_t>(roles.weights)])
    if (is_total(user) && take_total(graph, users, roles, user)) return;
  const Names& dims = graph.node(roles.weights).type.dims;
  for (int id = 0; id < static_cast<int>(graph.nodes().size()); ++id) {
    if (!is_total(id)) continue;
    const int term = graph.node(id).inputs[0];
    const Names& own = graph.node(term).type.dims;
    AttentionRoles with = roles;
    if (term == roles.weights || own.size() != dims.size() || !own.without(dims).empty() || !take_shared(graph, with, term)) continue;
    if (!take_total(graph, users, with, id)) continue;
    roles = with;
    return;
  }
}

/// The roles with one operand of the matmul as weights, or the reason against it.
AttentionAnswer match_weights(const Graph& graph, const Users& users, AttentionRoles roles) {
  const auto refuse = [](std::string reason) { return AttentionAnswer{std::nullopt, -1, std::move(reason)}; };
  if (!is_made_of_product(graph, roles.weights) || !take_value_depth(graph, roles).empty()) return {};
  take_queries(graph, roles);
  take_row_sum(graph, users, roles);
  std::string problem = take_score(graph, users, roles);
  if (roles.product < 0) return {};
  if (match_online_softmax(graph, users, roles.product).roles || match_weighted_sum(graph, users, roles.product).roles) return {};
  const Between between = between_products_and(graph, roles.weights, roles);
  if (!between.changes_pairs) return {};
  if (!between.judges_pairs && !share_batch(graph, roles))
    return refuse("the weights are a hidden layer: queries, keys and values share no dim, and no mask is between the products");
  if (!problem.empty()) return refuse(std::move(problem));
  return {roles, -1, "the weights of " + std::string(roles.queries) + " x " + std::string(roles.keys) + " are used by one matmul alone, without a softmax"};
}

}  // namespace

bool share_batch(const Names& value, const Names& product, const Names& query, const Names& key, Name keys) {
  return std::ranges::any_of(value, [&](Name dim) { return dim != keys && product.has(dim) && query.has(dim) && key.has(dim); });
}

AttentionAnswer match_weighted_sum(const Graph& graph, const Users& users, int id) {
  if (reduced_dim(graph.node(id))) return match_reduction(graph, users, id);
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
