/// Attention whose queries, keys and values are one tensor, as one projection gives them.
#pragma once

#include "dsl/graph.h"

namespace attune {

/// Input qkv [batch, tokens, 3, heads, depth]: queries, keys and values of each token side by side (qkv_packed of FlashAttention). Nothing is copied.
struct PackedQkv {
  bool causal = false;  ///< a query sees itself and the keys before it

  static constexpr std::string_view name = "packed_qkv", meaning = "out = softmax(q k^T / sqrt(depth)) v, with q, k, v = qkv[.., 0, .., ..], qkv[.., 1, .., ..], qkv[.., 2, .., ..]";
  static constexpr auto fields = std::tuple{Field{"causal", &PackedQkv::causal}};

  constexpr void operator()(Graph& g) const {
    auto [batch, tokens, heads, depth, keys] = g.dims("batch", "tokens", "heads", "depth", "keys");
    const Dim three = g.dim("three", 3), width = g.dim("value_depth");
    const Value qkv = g.input("qkv", {batch, tokens, three, heads, depth});
    const Value q = gather(qkv, constant(g, 0), three);
    const Value k = rename(gather(qkv, constant(g, 1), three), tokens, keys);
    const Value v = rename(rename(gather(qkv, constant(g, 2), three), tokens, keys), depth, width);
    Value scores = scale(matmul(q, k, depth), 1 / sqrt(extent(depth)));
    if (causal) scores = mask(scores, index(keys) <= index(tokens));
    g.output("out", matmul(softmax(scores, keys), v, keys), {batch, tokens, heads, width});
  }
};

}  // namespace attune
