/// Which operations of a graph are computed together: the partition into stages, decided on the expanded graph.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/graph.h"

namespace attune {

enum class StageKind { pointwise, gemm, row_softmax, reduce, online_softmax };
std::string_view name_of(StageKind kind);

/// One stage: it computes `nodes` and stores the value of `result`; `inputs` are values of other stages or arguments.
/// Elementwise operations may stand in several stages: they are computed where they are used, never stored between.
struct StagePlan {
  StageKind kind = StageKind::pointwise;
  int result = -1;
  std::vector<int> nodes;   ///< ascending
  std::vector<int> inputs;  ///< ascending
  std::string reason;       ///< what `attune explain` prints
};

/// One of the scores that a concat lays one behind the other along the keys: made of a product, or of none (-1).
struct KeyPart {
  int product = -1, key = -1;  ///< a matmul with the match's query and this operand
  Name along;                  ///< the keys of this part
};

/// How a matmul over softmax weights can be computed without ever storing the scores.
///   result = sum_keys weight(softmax_keys(score)) * value
struct OnlineSoftmaxMatch {
  int softmax = -1, matmul = -1;
  int product = -1;           ///< the matmul of queries and keys, or -1: the score is computed element by element
  int query = -1, key = -1;   ///< operands of the product, or of the terms of `sum`
  int sum = -1;               ///< a sum over pairs whose terms need one value of the query and one of the key, or -1
  int value = -1;             ///< operand of the matmul
  std::vector<KeyPart> parts; ///< of the score, if it holds a concat of products; `product` is one of theirs, `key` none
  Name queries, keys, value_depth;
};

/// The users of every node; an output counts as a user with the number -1.
std::vector<std::vector<int>> users_of(const Graph& graph);

/// The operation has a loop of its own (matmul, softmax, reductions); all others are computed per element.
bool is_anchor(const Node& node);

/// The match for the matmul `node`, or the reason why there is none.
struct OnlineSoftmaxAnswer {
  std::optional<OnlineSoftmaxMatch> match;
  int softmax = -1;  ///< that the reason is about, or -1: the matmul has nothing to do with one
  std::string reason;
};
OnlineSoftmaxAnswer match_online_softmax(const Graph& graph, int node);

/// The stages of the graph in an order in which each finds its inputs ready. Without `fuse` every matmul and softmax is a
/// stage of its own: the baseline that fused stages are measured against.
std::vector<StagePlan> plan_stages(const Graph& graph, bool fuse = true);

}  // namespace attune
