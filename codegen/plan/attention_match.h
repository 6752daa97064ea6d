/// How the kinds of stages that compute scores in tiles find the roles of their nodes: what they have in common.
#pragma once

#include <optional>
#include <string>

#include "codegen/plan/node_users.h"
#include "codegen/plan/stage_roles.h"

namespace attune {

template <class Op>
const Op* as(const Node& node) {
  return std::get_if<Op>(&node.op);
}

inline std::string name_of(const Node& node) {
  return std::string(operation_name(node.op));
}

/// The roles around the matmul `node`, or the reason why there are none.
struct AttentionAnswer {
  std::optional<AttentionRoles> roles;
  int softmax = -1;  ///< that the reason is about, or -1: the matmul has nothing to do with one
  std::string reason;
};
/// Of a log_sum_exp, too.
AttentionAnswer match_online_softmax(const Graph& graph, const Users& users, int node);
/// Of a matmul that has nothing to do with a softmax, or of a sum or a maximum. An empty reason says that no operand is made of a product.
AttentionAnswer match_weighted_sum(const Graph& graph, const Users& users, int node);
/// Of a reduction of rows alone: a sum, a maximum or a log_sum_exp of reals over one dim, each of which is made of a product of its own.
AttentionAnswer match_reduction(const Graph& graph, const Users& users, int node);
/// The first of the two that has roles, or the reason that says most.
AttentionAnswer match_attention(const Graph& graph, const Users& users, int node);

/// Of dims of a value and of a product of a query and a key: every key belongs to a batch index of its own queries, as it does where there are heads or
/// sequences, which query, key and value share beside the keys. (A layer's hidden features are the same for all tokens.)
bool share_batch(const Names& value, const Names& product, const Names& query, const Names& key, Name keys);

/// The node has a value for each pair of a query and a key.
inline bool has_pair(const Graph& graph, int node, const AttentionRoles& roles) {
  const Names& dims = graph.node(node).type.dims;
  return dims.has(roles.queries) && dims.has(roles.keys);
}

/// A matmul below the node, as far as elementwise operations and concats go.
bool is_made_of_product(const Graph& graph, int id);

/// What lies between the products of a score and the weights.
struct Between {
  bool changes_pairs = false;  ///< some of it could not be moved to queries, keys or values: the weights are no plain chain of products
  bool judges_pairs = false;   ///< a mask or a factor depends on both the query and the key, and is no real number that memory holds of each pair
};
Between between_products_and(const Graph& graph, int weights, const AttentionRoles& roles);

/// What is made of the rows of scores, if the stage can store it: one for each row of its result, and nothing that it reads depends on it; or -1.
int stored_of_rows(const Graph& graph, const AttentionRoles& roles, int id);

/// Finds value_depth from the weights, the value and the keys; or says what is missing.
std::string take_value_depth(const Graph& graph, AttentionRoles& roles);

/// The dims that the weights have and the values have not: queries, and those of heads that share values.
Names query_dims(const Graph& graph, const AttentionRoles& roles);

/// Finds which of these are the queries: no dim that an operand of the score's product has beside the keys, if there is another.
void take_queries(const Graph& graph, AttentionRoles& roles);

/// Finds what the score is made of, from its end; or says why it cannot be computed in tiles.
std::string take_score(const Graph& graph, const Users& users, AttentionRoles& roles);

}  // namespace attune
