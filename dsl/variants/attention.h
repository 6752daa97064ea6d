/// What the variants without projections share: q, k and v by head, scaled scores, and the result from changed scores.
#pragma once

#include "dsl/graph.h"

namespace attune {

/// Which scores are an output beside the result, scores [batch, heads, queries, keys]: scaled, after the cap, after the mask (minus infinity where a key is
/// hidden), or the weights. ONNX's qk_matmul_output_mode numbers them so from 0 on.
enum class ScoreOutput { none, scaled, capped, masked, weights };
constexpr std::array<std::string_view, 5> enumerators(ScoreOutput) { return {"none", "scaled", "capped", "masked", "weights"}; }

/// Scores step by step; a step that a variant does not have leaves them as they are.
struct ScoreSteps {
  Value scaled, capped, masked;
};

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
  constexpr void output(Value weights, Value values, Here at = Here::current()) const {
    g.output("out", matmul(weights, values, keys, at), {batch, heads, queries, value_depth}, at);
  }
  /// The same with weights = softmax of the scores over the keys, and v.
  constexpr void output(Value changed_scores, Here at = Here::current()) const { output(softmax(changed_scores, keys, at), v, at); }
  /// The same of the masked scores, and the scores that are asked for.
  constexpr void output(const ScoreSteps& steps, ScoreOutput asked, Here at = Here::current()) const {
    const Value weights = softmax(steps.masked, keys, at);
    output(weights, v, at);
    const std::array<Value, 5> all = {weights, steps.scaled, steps.capped, steps.masked, weights};
    if (asked != ScoreOutput::none) g.output("scores", all[static_cast<std::size_t>(asked)], {batch, heads, queries, keys}, at);
  }
  /// lse[.., i] = ln sum_j exp(scores[.., i, j]): what merge_partials and gradients want of a result.
  constexpr void output_lse(Value changed_scores, Here at = Here::current()) const {
    g.output("lse", log_sum_exp(changed_scores, keys, at), {batch, heads, queries}, at);
  }
};

}  // namespace attune
