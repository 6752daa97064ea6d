/// What the variants without projections share: q, k and v by head, scaled scores, and the result from changed scores.
#pragma once

#include "dsl/graph.h"

namespace attune {

/// Inputs q [batch, heads, queries, depth], k [batch, heads, keys, depth], v [batch, heads, keys, value_depth].
struct Attention {
  Graph& g;
  Dim batch = g.dim("batch"), heads = g.dim("heads"), queries = g.dim("queries"), keys = g.dim("keys");
  Dim depth = g.dim("depth"), value_depth = g.dim("value_depth");
  Value q = g.input("q", {batch, heads, queries, depth});
  Value k = g.input("k", {batch, heads, keys, depth});
  Value v = g.input("v", {batch, heads, keys, value_depth});

  constexpr explicit Attention(Graph& graph) : g(graph) {}

  /// sum_d q[.., i, d] k[.., j, d] / sqrt(depth): [batch, heads, queries, keys].
  constexpr Value scores() const { return scale(matmul(q, k, depth), 1 / sqrt(extent(depth))); }
  /// Weights of the keys j <= i, and 0 of the others: for weights that no softmax makes.
  constexpr Value causal(Value weights) const { return select(index(queries) >= index(keys), weights, 0); }
  /// out[.., i, d] = sum_j weights[.., i, j] values[.., j, d].
  constexpr void output(Value weights, Value values) const {
    g.output("out", matmul(weights, values, keys), {batch, heads, queries, value_depth});
  }
  /// The same with weights = softmax of the scores over the keys, and v.
  constexpr void output(Value changed_scores) const { output(softmax(changed_scores, keys), v); }
  /// lse[.., i] = ln sum_j exp(scores[.., i, j]): what merge_partials and gradients want of a result.
  constexpr void output_lse(Value changed_scores) const { g.output("lse", log_sum_exp(changed_scores, keys), {batch, heads, queries}); }
};

}  // namespace attune
