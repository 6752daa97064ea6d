/// A layer of a decoder with a memory: causal self-attention, attention to the memory, and a network of each token.
#pragma once

#include "dsl/variants/layer_parts.h"

namespace attune {

/// Inputs x [batch, tokens, model], memory [batch, memory_tokens, model]; those of PackedProjections twice, their names behind self_attn_ and
/// multihead_attn_; those of LayerParts::network; norm1_weight, norm2_weight, norm3_weight [model], and with biases their biases.
/// Output out [batch, tokens, model].
struct DecoderLayer {
  bool norm_first = false;  ///< normalises what goes into attentions and network (pre-norm); without, the sums (post-norm)
  LayerNormalisation norm = LayerNormalisation::layer;
  Activation activation = Activation::relu;
  bool biases = true;  ///< without, PyTorch's bias=False: none in projections, network and normalisations
  bool causal = true;  ///< a token sees itself and those before it
  TorchMask tgt_mask = TorchMask::none;                 ///< input tgt_mask [tokens, keys]
  TorchMask tgt_key_padding_mask = TorchMask::none;     ///< input tgt_key_padding_mask [batch, keys]
  TorchMask memory_mask = TorchMask::none;              ///< input memory_mask [tokens, memory_keys]
  TorchMask memory_key_padding_mask = TorchMask::none;  ///< input memory_key_padding_mask [batch, memory_keys]
  double epsilon = 1e-5;                                ///< of the normalisations: PyTorch's layer_norm_eps

  static constexpr std::string_view name = "decoder_layer",
                                    meaning = "out = norm3(z + network(z)) with z = norm2(y + attention(y, memory)), y = norm1(x + attention(x)), "
                                              "or with norm_first y = x + attention(norm1(x)), and so on; "
                                              "PyTorch's nn.TransformerDecoderLayer; Vaswani et al. 2017";
  static constexpr auto fields = std::tuple{Field{"norm_first", &DecoderLayer::norm_first},
                                            Field{"norm", &DecoderLayer::norm},
                                            Field{"activation", &DecoderLayer::activation},
                                            Field{"biases", &DecoderLayer::biases},
                                            Field{"causal", &DecoderLayer::causal},
                                            Field{"tgt_mask", &DecoderLayer::tgt_mask},
                                            Field{"tgt_key_padding_mask", &DecoderLayer::tgt_key_padding_mask},
                                            Field{"memory_mask", &DecoderLayer::memory_mask},
                                            Field{"memory_key_padding_mask", &DecoderLayer::memory_key_padding_mask},
                                            Field{"epsilon", &DecoderLayer::epsilon}};

  constexpr void operator()(Graph& g) const {
    const LayerParts l(g, {norm_first, biases, norm, activation, epsilon});
    const Dim memory_tokens = g.dim("memory_tokens"), memory_keys = g.dim("memory_keys");
    const Value x = g.input("x", {l.batch, l.tokens, l.model}), memory = g.input("memory", {l.batch, memory_tokens, l.model});
    const auto to_tokens = [&](Value from) {
      const PackedProjections a = l.projections(self_attention);
      const LayerMasks masks = {tgt_mask, "tgt_mask", tgt_key_padding_mask, "tgt_key_padding_mask", causal};
      return l.attended(a, a.heads_of(from, l.tokens, l.keys), l.keys, masks);
    };
    const auto to_memory = [&](Value from) {
      const PackedProjections a = l.projections(attention_to_memory);
      const LayerMasks masks = {memory_mask, "memory_mask", memory_key_padding_mask, "memory_key_padding_mask"};
      return l.attended(a, a.heads_of(from, memory, memory, memory_tokens, memory_keys), memory_keys, masks);
    };
    const Value y = l.residual(x, "norm1_weight", "norm1_bias", to_tokens);
    const Value z = l.residual(y, "norm2_weight", "norm2_bias", to_memory);
    g.output("out", l.residual(z, "norm3_weight", "norm3_bias", [&](Value from) { return l.network(from); }), {l.batch, l.tokens, l.model});
  }
};

}  // namespace attune
