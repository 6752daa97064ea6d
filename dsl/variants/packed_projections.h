/// What the layers with PyTorch's weights share: heads made from tokens by one packed weight, attention over them, and heads joined to tokens again.
#pragma once

#include "dsl/graph.h"

namespace attune {

/// A mask of nn.MultiheadAttention: booleans that are true where a key is hidden, or reals that are added to the scores.
enum class TorchMask { none, hides, added };
constexpr std::array<std::string_view, 3> enumerators(TorchMask) { return {"none", "hides", "added"}; }

/// The scores under a mask of that kind, an input of those dims.
constexpr Value under_torch_mask(Graph& g, Value scores, TorchMask kind, Name name, std::initializer_list<Dim> dims) {
  if (kind == TorchMask::none) return scores;
  const Value given = g.input(name, dims, kind == TorchMask::hides ? Kind::boolean : Kind::real);
  return kind == TorchMask::hides ? mask(scores, !given) : scores + given;
}

/// Queries [.., tokens, heads, depth], keys and values [.., keys, heads, depth].
struct Heads {
  Value q, k, v;
};

/// The names of an attention's weights among the inputs: PyTorch's state_dict has a dot where these have an underscore.
struct PackedNames {
  Name in_weight = "in_proj_weight", in_bias = "in_proj_bias", out_weight = "out_proj_weight", out_bias = "out_proj_bias";
};

/// Inputs in_proj_weight [three, heads, depth, model], which is the memory of PyTorch's [3 model, model] with model = heads * depth, in_proj_bias
/// [three, heads, depth], out_proj_weight [model, heads, depth], out_proj_bias [model]; queries, keys and values are 0, 1 and 2 along three.
struct PackedProjections {
  Graph& g;
  bool has_biases;
  PackedNames names;
  Dim model = g.dim("model"), heads = g.dim("heads"), depth = g.dim("depth"), three = g.dim("three", 3);

  constexpr explicit PackedProjections(Graph& graph, bool biases, const PackedNames& weights = {}) : g(graph), has_biases(biases), names(weights) {}

  /// All three of x [.., from, model], in one product.
  constexpr Heads heads_of(Value x, Dim from, Dim keys) const {
    const Value weight = g.input(names.in_weight, {three, heads, depth, model});
    const Value all = has_biases ? linear(x, weight, in_bias(), model) : linear(x, weight, model);  // [.., from, three, heads, depth]
    return {part(all, 0), rename(part(all, 1), from, keys), rename(part(all, 2), from, keys)};
  }
  /// Of tokens [.., model] and what keys and values are made of, [.., from, model].
  constexpr Heads heads_of(Value tokens, Value of_keys, Value of_values, Dim from, Dim keys) const {
    const Value weight = g.input(names.in_weight, {three, heads, depth, model});
    return heads_of({tokens, of_keys, of_values}, {part(weight, 0), part(weight, 1), part(weight, 2)}, {model, model, model}, from, keys);
  }
  /// The same with three weights [heads, depth, width], each of the width of its source.
  constexpr Heads heads_of(const std::array<Value, 3>& sources, const std::array<Value, 3>& weights, const std::array<Dim, 3>& widths, Dim from,
                           Dim keys) const {
    std::array<Value, 3> made = sources;
    const Value bias = has_biases ? in_bias() : sources[0];
    for (std::size_t n = 0; n < made.size(); ++n)
      made[n] = has_biases ? linear(sources[n], weights[n], part(bias, static_cast<int>(n)), widths[n]) : linear(sources[n], weights[n], widths[n]);
    return {made[0], rename(made[1], from, keys), rename(made[2], from, keys)};
  }
  /// sum_d q[.., i, d] k[.., j, d] / sqrt(depth): [.., tokens, heads, keys].
  constexpr Value scores(const Heads& of) const { return scale(matmul(of.q, of.k, depth), 1 / sqrt(extent(depth))); }
  /// sum_j weights[.., i, j] v[.., j, :], joined over the heads: [.., tokens, model].
  constexpr Value joined(Value weights, Value v, Dim keys) const {
    const Value context = matmul(weights, v, keys), weight = g.input(names.out_weight, {model, heads, depth});
    return has_biases ? linear(context, weight, g.input(names.out_bias, {model}), {heads, depth}) : linear(context, weight, {heads, depth});
  }

 private:
  constexpr Value in_bias() const { return g.input(names.in_bias, {three, heads, depth}); }
  /// One of the three of something packed.
  constexpr Value part(Value packed, int number) const { return gather(packed, constant(g, number), three); }
};

}  // namespace attune
