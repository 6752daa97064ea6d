/// Linear attention as a recurrence: what keys and values have written into a state is read by queries, at a cost that is linear in the tokens.
#pragma once

#include "dsl/variants/feature_map.h"

namespace attune {

/// How a token changes the state, under ONNX's names.
enum class UpdateRule { linear, gated, delta, gated_delta };
constexpr std::array<std::string_view, 4> enumerators(UpdateRule) { return {"linear", "gated", "delta", "gated_delta"}; }

/// Inputs q [batch, heads, tokens, depth], k [batch, heads, tokens, depth], v [batch, heads, tokens, value_depth]; of gated rules log_decay
/// [batch, heads, tokens], a natural logarithm as in ONNX: of a state that keeps half of itself it is -0.69; of delta rules beta [batch, heads, tokens]. Keys
/// of delta rules should have length 1. Retention (Sun et al. 2023) without its normalisation is `gated` with one number for each head; gated linear
/// attention (Yang et al. 2024) is `gated` with channel_decay; the delta rule is of Schlag et al. 2021, the gated one of Yang et al. 2025.
struct RecurrentAttention {
  UpdateRule rule = UpdateRule::gated_delta;
  FeatureMap feature_map = FeatureMap::identity;  ///< f, of queries and keys
  bool channel_decay = false;  ///< log_decay is [batch, heads, tokens, depth]: a number for each channel of the keys
  bool grouped = false;        ///< q is [batch, heads, group, tokens, depth]: `group` query heads read one state
  bool state = false;          ///< another input, past_state, and another output, present_state, both [batch, heads, depth, value_depth]

  static constexpr std::string_view name = "recurrent_attention",
                                    meaning = "out = S_t^T q_t / sqrt(depth) of each token t, with S_t = S_(t-1) + k_t v_t^T (linear), "
                                              "e^g_t S_(t-1) + k_t v_t^T (gated), S_(t-1) + b_t k_t (v_t - S_(t-1)^T k_t)^T (delta), or "
                                              "e^g_t S_(t-1) + b_t k_t (v_t - e^g_t S_(t-1)^T k_t)^T (gated_delta); ONNX LinearAttention, opset 27";
  static constexpr auto fields =
      std::tuple{Field{"rule", &RecurrentAttention::rule}, Field{"feature_map", &RecurrentAttention::feature_map},
                 Field{"channel_decay", &RecurrentAttention::channel_decay}, Field{"grouped", &RecurrentAttention::grouped},
                 Field{"state", &RecurrentAttention::state}};

  constexpr void operator()(Graph& g) const {
    auto [batch, heads, group, tokens, depth, value_depth] = g.dims("batch", "heads", "group", "tokens", "depth", "value_depth");
    const bool is_gated = rule == UpdateRule::gated || rule == UpdateRule::gated_delta;
    g.require(is_gated || !channel_decay, "channel_decay is for rules with a decay; rule must be gated or gated_delta");
    const bool has_delta = rule == UpdateRule::delta || rule == UpdateRule::gated_delta;
    const Value q = grouped ? g.input("q", {batch, heads, group, tokens, depth}) : g.input("q", {batch, heads, tokens, depth});
    const Value k = features_of(feature_map, g.input("k", {batch, heads, tokens, depth}));
    Value v = g.input("v", {batch, heads, tokens, value_depth});
    RecurrentParts parts;
    if (is_gated) parts.log_decay = channel_decay ? g.input("log_decay", {batch, heads, tokens, depth}) : g.input("log_decay", {batch, heads, tokens});
    if (has_delta) {
      const Value beta = g.input("beta", {batch, heads, tokens});
      parts.beta = beta;
      v = v * beta;
    }
    if (state) parts.initial = g.input("past_state", {batch, heads, depth, value_depth});
    const auto [result, last] = recurrence_with_state(scale(features_of(feature_map, q), 1 / sqrt(extent(depth))), k, v, parts, tokens, depth);
    if (grouped)
      g.output("out", result, {batch, heads, group, tokens, value_depth});
    else
      g.output("out", result, {batch, heads, tokens, value_depth});
    if (state) g.output("present_state", last, {batch, heads, depth, value_depth});
  }
};

}  // namespace attune
