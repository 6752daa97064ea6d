/// A layer of the decoder: attention with a cache, then the gated product.
#pragma once

#include "weight.h"

namespace text_generation {

/// h = x + wo attention(n(x)), y = h + down(silu(gate n(h)) * up n(h)), n the norm by the root of the mean square: the layer of SmolLM2, and of every
/// model whose architecture GGUF calls llama. A `group` of heads of queries shares a head of keys. Queries and keys are turned by their positions.
///
/// Inputs: x [tokens, block, lane], which is [tokens, model]; cos and sin of the angles [tokens, pairs]; the cache, keys and values [keys, kv_heads,
/// depth] of the tokens before and, in their last rows, of these, which are written there; the norms' weights [block, lane]; and the other weights,
/// as variants/weight.h has them. Their columns lie in groups of `depth`, `out_lane` or `hidden_lane`, which products read in place.
/// Output: y as x.
struct DecoderLayer {
  Blocks blocks = Blocks::none;
  double epsilon = 1e-5;

  static constexpr std::string_view name = "decoder_layer";
  static constexpr auto fields = std::tuple{attune::Field{"blocks", &DecoderLayer::blocks}, attune::Field{"epsilon", &DecoderLayer::epsilon}};

  constexpr void operator()(attune::Graph& g) const {
    using attune::Dim, attune::Value;
    auto [tokens, block, lane, kv_heads, group, depth] = g.dims("tokens", "block", "lane", "kv_heads", "group", "depth");
    auto [keys, queries, pairs, hidden_block, hidden_lane] = g.dims("keys", "queries", "pairs", "hidden_block", "hidden_lane");
    const Dim out_block = g.dim("out_block"), out_lane = g.dim("out_lane");
    const Value x = g.input("x", {tokens, block, lane});
    const Value cosine = g.input("cosine", {tokens, pairs}), sine = g.input("sine", {tokens, pairs});
    const Value k_cache = g.input("k_cache", {keys, kv_heads, depth}), v_cache = g.input("v_cache", {keys, kv_heads, depth});
    const Value attention_norm = g.input("attention_norm", {block, lane}), feed_norm = g.input("feed_norm", {block, lane});
    const Weight of_x{g, blocks, {lane, g.dim("part")}}, of_heads{g, blocks, {depth, g.dim("head_part")}};
    const Weight of_hidden{g, blocks, {hidden_lane, g.dim("hidden_part")}};
    const Value wq = of_x.input({"wq", "wq_scales", "wq_minima", "wq_quants"}, {kv_heads, group, block}, depth);
    const Value wk = of_x.input({"wk", "wk_scales", "wk_minima", "wk_quants"}, {kv_heads, block}, depth);
    const Value wv = of_x.input({"wv", "wv_scales", "wv_minima", "wv_quants"}, {kv_heads, block}, depth);
    const Value wo = of_heads.input({"wo", "wo_scales", "wo_minima", "wo_quants"}, {out_block, kv_heads, group}, out_lane);
    const Value gate = of_x.input({"gate", "gate_scales", "gate_minima", "gate_quants"}, {hidden_block, block}, hidden_lane);
    const Value up = of_x.input({"up", "up_scales", "up_minima", "up_quants"}, {hidden_block, block}, hidden_lane);
    const Value down = of_hidden.input({"down", "down_scales", "down_minima", "down_quants"}, {out_block, hidden_block}, out_lane);

    const auto turned = [&](Value y) { return rotary_embedding(y, cosine, sine, depth, pairs, attune::RotaryPairs::interleaved); };
    const auto as_x = [&](Value y) { return rename(rename(y, out_block, block), out_lane, lane); };
    const Value n = rms_norm(x, attention_norm, {block, lane}, epsilon);
    const Value q = turned(of_x.times(n, wq, {block}));                                      // [tokens, kv_heads, group, depth]
    const Value k = turned(of_x.times(n, wk, {block})), v = of_x.times(n, wv, {block});    // [tokens, kv_heads, depth]
    const Value past = extent(keys) - extent(tokens);
    const Value all_k = write_rows(k_cache, keys, k, tokens, past), all_v = write_rows(v_cache, keys, v, tokens, past);
    // the heads of a group are queries side by side: a tile has rows of several, which read the same keys
    const Value scores = scale(matmul(merge(q, {tokens, group}, queries), all_k, depth), 1 / sqrt(extent(depth)));
    const Value position = past + floor_div(index(queries), extent(group));
    const Value attended = matmul(softmax(mask(scores, index(keys) <= position), keys), all_v, keys);  // [queries, kv_heads, depth]
    const Value context = gather(attended, index(tokens) * extent(group) + index(group), queries);     // [tokens, group, kv_heads, depth]
    const Value h = x + as_x(of_heads.times(context, wo, {kv_heads, group}));
    const Value m = rms_norm(h, feed_norm, {block, lane}, epsilon);
    const Value opened = silu(of_x.times(m, gate, {block})) * of_x.times(m, up, {block});  // [tokens, hidden_block, hidden_lane]
    g.output("y", h + as_x(of_hidden.times(opened, down, {hidden_block})), {tokens, block, lane});
    g.output_in_place(k_cache, all_k);
    g.output_in_place(v_cache, all_v);
  }
};

}  // namespace text_generation
