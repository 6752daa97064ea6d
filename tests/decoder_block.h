/// A block of a decoder as language models have it: the tests' example of a long graph.
#pragma once

#include "dsl/graph.h"

namespace attune {

/// y = h + down(silu(gate n(h)) * up n(h)), h = x + wo attention(n(x)), n the root-mean-square normalisation (Zhang and Sennrich, 2019): grouped
/// heads, causal, rotary embedding in its half-split form (Su et al., 2021) with angle position * 10000^(-i / half), as Llama has it.
/// Inputs x [batch, tokens, model], positions i64 [tokens], wq [kv_heads, group, two, half, model], wk [kv_heads, two, half, model],
/// wv [kv_heads, value_depth, model], wo [model, kv_heads, group, value_depth], gate, up, down [hidden, model]; output y as x.
struct DecoderBlock {
  double angle = 1;  ///< a factor of the angles

  static constexpr std::string_view name = "decoder_block", meaning = "a block of a decoder";
  static constexpr auto fields = std::tuple{Field{"angle", &DecoderBlock::angle}};

  constexpr void operator()(Graph& g) const {
    auto [batch, tokens, keys, model, kv_heads, group, half, value_depth, hidden] =
        g.dims("batch", "tokens", "keys", "model", "kv_heads", "group", "half", "value_depth", "hidden");
    const Dim two = g.dim("two", 2), side = g.dim("side");
    const Value x = g.input("x", {batch, tokens, model});
    const Value positions = g.input("positions", {tokens}, Kind::i64);
    const Value wq = g.input("wq", {kv_heads, group, two, half, model});
    const Value wk = g.input("wk", {kv_heads, two, half, model});
    const Value wv = g.input("wv", {kv_heads, value_depth, model});
    const Value wo = g.input("wo", {model, kv_heads, group, value_depth});
    const Value gate = g.input("gate", {hidden, model}), up = g.input("up", {hidden, model}), down = g.input("down", {hidden, model});

    const Value frequency = exp(to_real(index(half)) * -9.210340371976184 / to_real(extent(half)));
    const Value angles = angle * to_real(positions) * frequency;  // [tokens, half]
    // (a, b) -> (a cos - b sin, b cos + a sin)
    const auto rotated = [&](Value y) {
      const Value other = gather(y, 1 - index(side), two);
      return rename(y, two, side) * cos(angles) + select(index(side) == 0, -1.0 * other, other) * sin(angles);
    };
    const Value n = normalised(x, model);
    const Value q = rotated(matmul(n, wq, model)), k = rename(rotated(matmul(n, wk, model)), tokens, keys);
    const Value v = rename(matmul(n, wv, model), tokens, keys);
    const Value scores = mask(scale(matmul(q, k, {side, half}), 1 / sqrt(2 * extent(half))), index(keys) <= index(tokens));
    const Value h = x + matmul(matmul(softmax(scores, keys), v, keys), wo, {kv_heads, group, value_depth});
    const Value m = normalised(h, model), opened = matmul(m, gate, model);
    g.output("y", h + matmul(opened * sigmoid(opened) * matmul(m, up, model), down, hidden), {batch, tokens, model});
  }

  static constexpr Value normalised(Value x, Dim model) { return x / sqrt(sum(x * x, model) / to_real(extent(model)) + 1e-6); }
};

}  // namespace attune
