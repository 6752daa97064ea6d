/// PyTorch's nn.MultiheadAttention: its weights, as they are in memory, give its numbers.
#pragma once

#include "dsl/variants/packed_projections.h"

namespace attune {

/// What queries, keys and values are made of: one tensor, one for queries and one for keys and values, or three.
enum class TorchSources { one, two, three };
constexpr std::array<std::string_view, 3> enumerators(TorchSources) { return {"one", "two", "three"}; }

/// Which weights of the softmax are an output: PyTorch's need_weights, averaged over the heads or with average_attn_weights=False.
enum class TorchWeights { none, averaged, by_head };
constexpr std::array<std::string_view, 3> enumerators(TorchWeights) { return {"none", "averaged", "by_head"}; }

/// Inputs query [batch, tokens, model]; key [batch, memory_tokens, model] with two or three sources, value alike with three; the weights of
/// PackedProjections. Output out [batch, tokens, model]. In memory [3 model, model] is [three, heads, depth, model]: no weight is turned before.
/// A query that sees no key gives out_proj_bias, where PyTorch gives NaN. It is the layer at inference: nothing is dropped.
struct TorchMultiHead {
  TorchSources sources = TorchSources::one;
  bool batch_first = true;                         ///< without, as in PyTorch without batch_first: [tokens, batch, model], and so on
  bool bias = true;                                ///< in_proj_bias and out_proj_bias
  bool widths = false;                             ///< kdim, vdim: q_proj_weight, k_proj_weight, v_proj_weight [heads, depth, width of its source]
  bool add_bias_kv = false;                        ///< another key and value of all, inputs bias_k, bias_v [bias_key, heads, depth], bias_key is 1
  bool add_zero_attn = false;                      ///< another key and value, of zeros
  TorchMask attn_mask = TorchMask::none;           ///< input attn_mask [tokens, keys]
  bool mask_by_head = false;                       ///< attn_mask is [batch, heads, tokens, keys]: PyTorch's [batch * heads, tokens, keys]
  TorchMask key_padding_mask = TorchMask::none;    ///< input key_padding_mask [batch, keys]
  bool is_causal = false;                          ///< a query sees the keys up to its own place, without a mask in memory
  TorchWeights need_weights = TorchWeights::none;  ///< another output, weights [batch, tokens, keys], or [batch, heads, tokens, keys] by head

  static constexpr std::string_view name = "torch_multi_head",
                                    meaning = "out = out_proj concat over heads of softmax(q k^T / sqrt(depth)) v, q, k, v = in_proj of query, key, "
                                              "value; PyTorch's nn.MultiheadAttention";
  static constexpr auto fields = std::tuple{Field{"sources", &TorchMultiHead::sources},
                                            Field{"batch_first", &TorchMultiHead::batch_first},
                                            Field{"bias", &TorchMultiHead::bias},
                                            Field{"widths", &TorchMultiHead::widths},
                                            Field{"add_bias_kv", &TorchMultiHead::add_bias_kv},
                                            Field{"add_zero_attn", &TorchMultiHead::add_zero_attn},
                                            Field{"attn_mask", &TorchMultiHead::attn_mask},
                                            Field{"mask_by_head", &TorchMultiHead::mask_by_head},
                                            Field{"key_padding_mask", &TorchMultiHead::key_padding_mask},
                                            Field{"is_causal", &TorchMultiHead::is_causal},
                                            Field{"need_weights", &TorchMultiHead::need_weights}};

  constexpr void operator()(Graph& g) const {
    const Dim batch = g.dim("batch"), tokens = g.dim("tokens"), keys = g.dim("keys");
    const Dim from = sources == TorchSources::one ? tokens : g.dim("memory_tokens");
    const PackedProjections a(g, bias);
    const auto in_batch = [&](Dim length, Dim width) { return batch_first ? names_of({batch, length, width}) : names_of({length, batch, width}); };
    const Dim key_model = widths && sources != TorchSources::one ? g.dim("key_model") : a.model;
    const Dim value_model = widths && sources == TorchSources::three ? g.dim("value_model") : key_model;
    const Value query = g.input("query", in_batch(tokens, a.model), Kind::real);
    const Value key = sources == TorchSources::one ? query : g.input("key", in_batch(from, key_model), Kind::real);
    const Value value = sources == TorchSources::three ? g.input("value", in_batch(from, value_model), Kind::real) : key;

    const Heads made = heads_of(g, a, {query, key, value}, {a.model, key_model, value_model}, from, keys);
    const Dim bias_key = g.dim("bias_key", 1), zero_key = g.dim("zero_key", 1), all = add_bias_kv || add_zero_attn ? g.dim("all_keys") : keys;
    const auto with_more = [&](Value x, Value of_bias) {
      const Value zero = to_real(index(zero_key));
      if (!add_bias_kv) return concat({{x, keys}, {zero, zero_key}}, all);
      return add_zero_attn ? concat({{x, keys}, {of_bias, bias_key}, {zero, zero_key}}, all) : concat({{x, keys}, {of_bias, bias_key}}, all);
    };

    Value scores = a.scores(made), v = made.v;  // [batch, tokens, heads, keys]
    if (mask_by_head) scores = under_torch_mask(g, scores, attn_mask, "attn_mask", {batch, a.heads, tokens, keys});
    else scores = under_torch_mask(g, scores, attn_mask, "attn_mask", {tokens, keys});
    scores = under_torch_mask(g, scores, key_padding_mask, "key_padding_mask", {batch, keys});
    if (is_causal) scores = mask(scores, index(keys) <= index(tokens));
    if (add_bias_kv || add_zero_attn) {  // behind the masks, which do not hide them
      Value bias_k = v, bias_v = v;
      if (add_bias_kv) bias_k = g.input("bias_k", {bias_key, a.heads, a.depth}), bias_v = g.input("bias_v", {bias_key, a.heads, a.depth});
      scores = with_more(scores, add_bias_kv ? a.scores({made.q, bias_k, bias_v}) : scores);
      v = with_more(v, bias_v);
    }
    const Value p = softmax(scores, all);
    g.output("out", a.joined(p, v, all), in_batch(tokens, a.model));
    if (need_weights == TorchWeights::averaged) g.output("weights", mean(p, a.heads), {batch, tokens, all});
    if (need_weights == TorchWeights::by_head) g.output("weights", p, {batch, a.heads, tokens, all});
  }

 private:
  /// By the packed weight, or with `widths` by three.
  constexpr Heads heads_of(Graph& g, const PackedProjections& a, const std::array<Value, 3>& of, const std::array<Dim, 3>& width, Dim from,
                           Dim keys) const {
    if (!widths && sources == TorchSources::one) return a.heads_of(of[0], from, keys);
    if (!widths) return a.heads_of(of[0], of[1], of[2], from, keys);
    const Value wq = g.input("q_proj_weight", {a.heads, a.depth, width[0]}), wk = g.input("k_proj_weight", {a.heads, a.depth, width[1]});
    return a.heads_of(of, {wq, wk, g.input("v_proj_weight", {a.heads, a.depth, width[2]})}, width, from, keys);
  }
};

}  // namespace attune
