/// A layer of an encoder, and of a decoder without a memory: self-attention and a network of each token, each with a residual and a normalisation.
#pragma once

#include "dsl/variants/layer_parts.h"

namespace attune {

/// Inputs x [batch, tokens, model]; those of PackedProjections, their names behind self_attn_; those of LayerParts::network; norm1_weight,
/// norm2_weight [model], and with biases norm1_bias, norm2_bias. Output out [batch, tokens, model]. With causal=true it is the layer of a decoder
/// that has no memory, as GPT's.
struct EncoderLayer {
  bool norm_first = false;  ///< normalises what goes into attention and network (pre-norm); without, the sums (post-norm)
  LayerNormalisation norm = LayerNormalisation::layer;
  Activation activation = Activation::relu;
  bool biases = true;  ///< without, PyTorch's bias=False: none in projections, network and normalisations
  bool causal = false;                           ///< a token sees itself and those before it
  TorchMask src_mask = TorchMask::none;          ///< input src_mask [tokens, keys]
  TorchMask key_padding_mask = TorchMask::none;  ///< input key_padding_mask [batch, keys]
  double epsilon = 1e-5;                         ///< of the normalisations: PyTorch's layer_norm_eps

  static constexpr std::string_view name = "encoder_layer",
                                    meaning = "out = norm2(y + network(y)) with y = norm1(x + attention(x)), or with norm_first "
                                              "out = y + network(norm2(y)) with y = x + attention(norm1(x)); "
                                              "PyTorch's nn.TransformerEncoderLayer; Vaswani et al. 2017";
  static constexpr auto fields =
      std::tuple{Field{"norm_first", &EncoderLayer::norm_first},
                 Field{"norm", &EncoderLayer::norm},
                 Field{"activation", &EncoderLayer::activation},
                 Field{"biases", &EncoderLayer::biases},
                 Field{"causal", &EncoderLayer::causal},
                 Field{"src_mask", &EncoderLayer::src_mask},
                 Field{"key_padding_mask", &EncoderLayer::key_padding_mask},
                 Field{"epsilon", &EncoderLayer::epsilon}};

  constexpr void operator()(Graph& g) const {
    const LayerParts l(g, {norm_first, biases, norm, activation, epsilon});
    const Value x = g.input("x", {l.batch, l.tokens, l.model});
    const auto attention = [&](Value from) {
      const PackedProjections a = l.projections(self_attention);
      return l.attended(a, a.heads_of(from, l.tokens, l.keys), l.keys, {src_mask, "src_mask", key_padding_mask, "key_padding_mask", causal});
    };
    const Value y = l.residual(x, "norm1_weight", "norm1_bias", attention);
    g.output("out", l.residual(y, "norm2_weight", "norm2_bias", [&](Value from) { return l.network(from); }), {l.batch, l.tokens, l.model});
  }
};

}  // namespace attune
