/// The kinds of stages: for each the roles that nodes of a graph have in it, and how they are found. The only list of kinds.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "dsl/graph.h"

namespace attune {

class Planning;
struct Claim;

/// Everything elementwise.
struct PointwiseRoles {
  static constexpr std::string_view name = "pointwise";
  static std::optional<PointwiseRoles> find(const Graph& stage);
  static std::optional<Claim> claim(const Planning& planning, int node);
};

/// A reduction, and what is elementwise below it.
struct ReduceRoles {
  static constexpr std::string_view name = "reduce";
  int reduction = -1;
  static std::optional<ReduceRoles> find(const Graph& stage);
  static std::optional<Claim> claim(const Planning& planning, int node);
};

/// An operation that walks the rows of its operand, and what is elementwise below it.
struct RowWalkRoles {
  static constexpr std::string_view name = "row_walk";
  int walk = -1;
  static std::optional<RowWalkRoles> find(const Graph& stage);
  static std::optional<Claim> claim(const Planning& planning, int node);
};

/// A matmul, and what changes its result element by element.
struct GemmRoles {
  static constexpr std::string_view name = "gemm";
  int matmul = -1;
  static std::optional<GemmRoles> find(const Graph& stage);
  static std::optional<Claim> claim(const Planning& planning, int node);
};

/// A recurrence, and what changes its result element by element; beside it the state after the last token, or -1. Of a state that no recurrence is
/// computed with, the state alone.
struct RecurrenceRoles {
  static constexpr std::string_view name = "recurrence";
  int recurrence = -1, state = -1;
  static std::optional<RecurrenceRoles> find(const Graph& stage);
  static std::optional<Claim> claim(const Planning& planning, int node);
};

/// A softmax whose weights are stored, and beside them the logarithm of what it divides by (log_sum_exp), or -1.
struct RowSoftmaxRoles {
  static constexpr std::string_view name = "row_softmax";
  int softmax = -1, log_sum_exp = -1;
  static std::optional<RowSoftmaxRoles> find(const Graph& stage);
  static std::optional<Claim> claim(const Planning& planning, int node);
};

/// One of the scores that a concat lays one behind the other along the keys: made of a product, or of none (-1).
struct KeyPart {
  int product = -1, key = -1;  ///< a matmul with the stage's query and this operand
  Name along;                  ///< the keys of this part
};

/// A matmul over weights of pairs of queries and keys, which are made of scores and never stored; and what changes its result element by element.
/// Or a reduction of each row of scores alone: then there is no matmul, and no value.
struct AttentionRoles {
  int matmul = -1, weights = -1, value = -1;  ///< the matmul and its operands; of a reduction without a softmax its operand
  int reduction = -1;          ///< the sum, maximum or log_sum_exp of rows that is the result; or -1
  int softmax = -1;            ///< that the weights are made of, or -1: they are made of the scores element by element. A log_sum_exp is its own
  int log_sum_exp = -1;        ///< of the softmax's scores, stored beside the result; or -1
  int row_maximum = -1;        ///< the greatest of them, stored beside the result; or -1
  int row_sum = -1;            ///< without a softmax: the total of a row, which changes the result or is stored beside it; or -1
  int last_of_row_sum = -1;    ///< the last of the changes of the result that depend on row_sum, or -1
  int row_total = -1;          ///< row_sum, if it is stored beside the result; or -1
  int shared = -1;             ///< what weights and terms of row_sum are made of, if these are not the weights; or -1
  double hidden = 0;           ///< a value of `shared` of which weight and term are 0
  int product = -1;            ///< the matmul of queries and keys, or -1: the score is computed element by element
  int query = -1, key = -1;    ///< operands of the product, or of the terms of `sum`
  int sum = -1;                ///< a sum over pairs whose terms need one value of the query and one of the key, or -1
  std::vector<KeyPart> parts;  ///< of the score, if it holds a concat of products; `product` is one of theirs, `key` none
  Name queries, keys, value_depth;

  /// The node that the stage computes, before what changes it element by element.
  int result() const { return matmul < 0 ? reduction : matmul; }
  /// What is made of the products: the operand of the softmax, or the weights.
  int score(const Graph& graph) const { return softmax < 0 ? weights : graph.node(softmax).inputs[0]; }
};

///   result = sum_keys weight(softmax_keys(score)) * value, or log_sum_exp_keys(score)
struct OnlineSoftmaxRoles : AttentionRoles {
  static constexpr std::string_view name = "online_softmax";
  static std::optional<OnlineSoftmaxRoles> find(const Graph& stage);
  static std::optional<Claim> claim(const Planning& planning, int node);
};

///   result = f(sum_keys w(score) * value, sum_keys t(score)), w and t any functions of the pair's product, t mostly w; or sum_keys w(score), or max_keys score
struct WeightedSumRoles : AttentionRoles {
  static constexpr std::string_view name = "weighted_sum";
  static std::optional<WeightedSumRoles> find(const Graph& stage);
  static std::optional<Claim> claim(const Planning& planning, int node);
};

/// Rows written into memory that an input or an earlier write left as it is (Graph::output_in_place): the stage visits the rows alone.
struct WriteRowsRoles {
  static constexpr std::string_view name = "write_rows";
  int write = -1, memory = -1;  ///< write_rows, and the argument that it changes
  static std::optional<WriteRowsRoles> find(const Graph& stage);
  static std::optional<Claim> claim(const Planning& planning, int node);
};

/// In the order in which they are asked for a node: the first that claims it has it.
using StageRoles = std::variant<OnlineSoftmaxRoles, WeightedSumRoles, GemmRoles, RowSoftmaxRoles, RecurrenceRoles, RowWalkRoles, ReduceRoles,
                                WriteRowsRoles, PointwiseRoles>;

std::string_view name_of(const StageRoles& roles);
/// Those of a stage that computes scores in tiles; null of others.
const AttentionRoles* attention_in(const StageRoles& roles);
/// "online_softmax, gemm, ..."
std::string stage_kind_names();

/// The roles in the graph of a stage of this kind, or why it is none, in words.
struct StageRolesAnswer {
  std::optional<StageRoles> roles;
  std::string problem;
};
StageRolesAnswer find_roles(std::string_view kind, const Graph& stage);

/// The nodes that a stage's results other than its first are, in their order.
std::vector<int> results_beside(const StageRoles& roles);

}  // namespace attune
