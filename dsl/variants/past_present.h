/// Attention over past and new keys, which the call also gives as one tensor for the next step: the cache of ONNX's Attention.
#pragma once

#include "dsl/graph.h"

namespace attune {

/// Inputs q [batch, heads, group, queries, depth], of which `group` query heads share a head of keys and values; past_k and past_v [batch, heads,
/// past_keys, ..]; k and v [batch, heads, new_keys, ..]. Outputs present_k and present_v [batch, heads, keys, ..] are copies of past and new keys one
/// behind the other, as ONNX wants them; what attention reads is never stored. `cached` writes rows in place instead.
struct PastPresent {
  bool causal = true;  ///< a new query sees all past keys, itself and the new ones before it

  static constexpr std::string_view name = "past_present",
                                    meaning = "out = softmax(q present_k^T / sqrt(depth), where j <= past_keys + i) present_v, present = past and new keys one behind the other; "
                                              "ONNX, Attention";
  static constexpr auto fields = std::tuple{Field{"causal", &PastPresent::causal}};

  constexpr void operator()(Graph& g) const {
    auto [batch, heads, group, queries, keys, depth, value_depth, past_keys] = g.dims("batch", "heads", "group", "queries", "keys", "depth", "value_depth", "past_keys");
    const Dim new_keys = g.dim("new_keys");
    const Value q = g.input("q", {batch, heads, group, queries, depth});
    const Value k = g.input("k", {batch, heads, new_keys, depth});
    const Value v = g.input("v", {batch, heads, new_keys, value_depth});
    const Value past_k = g.input("past_k", {batch, heads, past_keys, depth});
    const Value past_v = g.input("past_v", {batch, heads, past_keys, value_depth});
    const Value present_k = concat({{past_k, past_keys}, {k, new_keys}}, keys), present_v = concat({{past_v, past_keys}, {v, new_keys}}, keys);
    Value scores = scale(matmul(q, present_k, depth), 1 / sqrt(extent(depth)));
    if (causal) scores = mask(scores, index(keys) <= index(queries) + extent(past_keys));
    g.output("out", matmul(softmax(scores, keys), present_v, keys), {batch, heads, group, queries, value_depth});
    g.output("present_k", present_k, {batch, heads, keys, depth});
    g.output("present_v", present_v, {batch, heads, keys, value_depth});
  }
};

}  // namespace attune
