/// What the layers of an encoder and of a decoder share: normalisation, the network of each token, and attention with a residual.
#pragma once

#include "dsl/variants/packed_projections.h"

namespace attune {

/// The normalisation of a layer: by mean and variance, or by the root of the mean square.
enum class LayerNormalisation { layer, rms };
constexpr std::array<std::string_view, 2> enumerators(LayerNormalisation) { return {"layer", "rms"}; }

/// What stands between the two products of a layer's network; gelu is that by the error function, swiglu has a third weight.
enum class Activation { relu, gelu, swiglu };
constexpr std::array<std::string_view, 3> enumerators(Activation) { return {"relu", "gelu", "swiglu"}; }

/// What an encoder's and a decoder's layer may choose.
struct LayerChoice {
  bool norm_first, biases;
  LayerNormalisation norm;
  Activation activation;
  double epsilon;
};

/// The names of the attentions' weights in a layer.
inline constexpr PackedNames self_attention = {"self_attn_in_proj_weight", "self_attn_in_proj_bias",  //
                                               "self_attn_out_proj_weight", "self_attn_out_proj_bias"};
inline constexpr PackedNames attention_to_memory = {"multihead_attn_in_proj_weight", "multihead_attn_in_proj_bias",  //
                                                    "multihead_attn_out_proj_weight", "multihead_attn_out_proj_bias"};

/// The masks of one of a layer's attentions, and the names that they have among the inputs: [tokens, keys] and [batch, keys].
struct LayerMasks {
  TorchMask pairs;
  Name pairs_name;
  TorchMask padding;
  Name padding_name;
  bool causal = false;
};

/// Inputs have the names of PyTorch's state_dict, with an underscore for each dot.
struct LayerParts {
  Graph& g;
  LayerChoice choice;
  Dim batch = g.dim("batch"), tokens = g.dim("tokens"), keys = g.dim("keys"), model = g.dim("model"), hidden = g.dim("hidden");

  constexpr LayerParts(Graph& graph, const LayerChoice& chosen) : g(graph), choice(chosen) {}

  constexpr PackedProjections projections(const PackedNames& names) const { return PackedProjections(g, choice.biases, names); }
  /// Of tokens to keys under masks, joined over the heads: [batch, tokens, model].
  constexpr Value attended(const PackedProjections& a, const Heads& made, Dim to, const LayerMasks& masks) const {
    Value scores = under_torch_mask(g, a.scores(made), masks.pairs, masks.pairs_name, {tokens, to});
    scores = under_torch_mask(g, scores, masks.padding, masks.padding_name, {batch, to});
    if (masks.causal) scores = mask(scores, index(to) <= index(tokens));
    return a.joined(softmax(scores, to), made.v, to);
  }
  /// Input `weight` [model] and, for norm=layer with biases, `bias` [model].
  constexpr Value normalised(Value x, Name weight, Name bias) const {
    const Value factor = g.input(weight, {model});
    if (choice.norm == LayerNormalisation::rms) return rms_norm(x, factor, model, choice.epsilon);
    return choice.biases ? layer_norm(x, factor, g.input(bias, {model}), model, choice.epsilon) : layer_norm(x, factor, model, choice.epsilon);
  }
  /// x + part(norm(x)) with norm_first, else norm(x + part(x)).
  constexpr Value residual(Value x, Name weight, Name bias, auto part) const {
    return choice.norm_first ? x + part(normalised(x, weight, bias)) : normalised(x + part(x), weight, bias);
  }
  /// linear2(activation(linear1 x)), with swiglu linear2(silu(gate x) * linear1 x). Inputs linear1_weight, gate_weight [hidden, model],
  /// linear2_weight [model, hidden], and with biases linear1_bias, gate_bias [hidden], linear2_bias [model].
  constexpr Value network(Value x) const {
    Value h = with_bias(x, g.input("linear1_weight", {hidden, model}), "linear1_bias", hidden, model);
    if (choice.activation == Activation::relu) h = maximum(h, 0);
    if (choice.activation == Activation::gelu) h = gelu(h);
    if (choice.activation == Activation::swiglu) h = silu(with_bias(x, g.input("gate_weight", {hidden, model}), "gate_bias", hidden, model)) * h;
    return with_bias(h, g.input("linear2_weight", {model, hidden}), "linear2_bias", model, hidden);
  }

 private:
  constexpr Value with_bias(Value x, Value weight, Name bias, Dim to, Dim over) const {
    return choice.biases ? linear(x, weight, g.input(bias, {to}), over) : linear(x, weight, over);
  }
};

}  // namespace attune
