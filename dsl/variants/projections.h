/// What the variants with projections share: heads made from tokens by weights, and heads joined to tokens again.
#pragma once

#include "dsl/graph.h"

namespace attune {

/// Inputs wq, wk [heads, depth, model], wv [heads, value_depth, model], wo [model, heads, value_depth], and with biases
/// bq, bk [heads, depth], bv [heads, value_depth], bo [model]: each weight is (out x in), as PyTorch stores it.
/// With in_out each is (in x out), as Keras and JAX store it: wq, wk [model, heads, depth], wv [model, heads, value_depth],
/// wo [heads, value_depth, model].
/// With panels each lies in groups of columns, as products read them: wq, wk [heads, model, depth], wv [heads, model, value_depth],
/// wo [panels, heads, value_depth, column]; bo is [panels, column], and so the result ends: the same memory as [model]. They are (in x out) anyhow.
struct Projections {
  Graph& g;
  bool has_biases, has_panels, is_in_out;
  Dim batch = g.dim("batch"), tokens = g.dim("tokens"), keys = g.dim("keys"), model = g.dim("model");
  Dim heads = g.dim("heads"), depth = g.dim("depth"), value_depth = g.dim("value_depth");

  constexpr Projections(Graph& graph, bool biases, bool panels = false, bool in_out = false)
      : g(graph), has_biases(biases), has_panels(panels), is_in_out(in_out) {}

  /// q of x [batch, tokens, model]: [batch, tokens, heads, depth].
  constexpr Value queries_of(Value x) const { return project(x, "wq", "bq", {heads, depth}, model); }
  /// k of a source [batch, from, model]: [batch, keys, heads, depth].
  constexpr Value keys_of(Value source, Dim from) const {
    return rename(project(source, "wk", "bk", {heads, depth}, model), from, keys);
  }
  /// v of a source [batch, from, model]: [batch, keys, heads, value_depth].
  constexpr Value values_of(Value source, Dim from) const {
    return rename(project(source, "wv", "bv", {heads, value_depth}, model), from, keys);
  }
  /// sum_d q[.., i, d] k[.., j, d] / sqrt(depth): [batch, tokens, heads, keys].
  constexpr Value scores(Value q, Value k) const { return scale(matmul(q, k, depth), 1 / sqrt(extent(depth))); }
  /// sum_j weights[.., i, j] v[.., j, :]: [batch, tokens, heads, value_depth].
  constexpr Value by_head(Value weights, Value v) const { return matmul(weights, v, keys); }
  /// The same joined over the heads: [batch, tokens, model], with panels [batch, tokens, panels, column].
  constexpr Value joined(Value weights, Value v) const {
    const Value context = by_head(weights, v);
    if (has_panels) {
      const Dim panels = g.dim("panels"), column = g.dim("column");
      return back(context, g.input("wo", {panels, heads, value_depth, column}), {panels, column});
    }
    return back(context, is_in_out ? g.input("wo", {heads, value_depth, model}) : g.input("wo", {model, heads, value_depth}), {model});
  }
  /// The output out: what `joined` or `by_head` gave.
  constexpr void output(Value result) const {
    Names dims = {batch.name, tokens.name};
    dims.unite(ends_of(result));
    g.output("out", result, dims);
  }
  /// The same added to the tokens x [batch, tokens, model]: [batch, tokens, model]. Without wo the heads are as wide as a token together.
  constexpr void output_added(Value x, Value result) const {
    const Names ends = ends_of(result);
    g.output("out", x + (ends.size() == 1 ? result : call(Merge{ends, model.name}, {result}, Here::current())), {batch, tokens, model});
  }

 private:
  /// The dims of a result behind batch and tokens.
  constexpr Names ends_of(Value result) const { return g.node(result.id).type.dims.without({batch.name, tokens.name}); }
  constexpr Value project(Value x, Name weight, Name bias, std::array<Dim, 2> to, Dim over) const {
    const Value w = has_panels  ? g.input(weight, {to[0], over, to[1]})
                    : is_in_out ? g.input(weight, {over, to[0], to[1]})
                                : g.input(weight, {to[0], to[1], over});
    return has_biases ? linear(x, w, g.input(bias, {to[0], to[1]}), over) : linear(x, w, over);
  }
  constexpr Value back(Value context, Value wo, std::initializer_list<Dim> to) const {
    return has_biases ? linear(context, wo, g.input("bo", to), {heads, value_depth}) : linear(context, wo, {heads, value_depth});
  }
};

}  // namespace attune
