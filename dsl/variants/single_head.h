/// One head of self-attention from the tokens, its scores not scaled: the first worked example of many courses.
#pragma once

#include "dsl/graph.h"

namespace attune {

/// Inputs x [tokens, model], wq and wk [depth, model], wv [value_depth, model]; output out [tokens, value_depth].
struct SingleHead {
  bool batched = false;   ///< x is [batch, tokens, model], and so on
  bool residual = false;  ///< out [tokens, model] = x + the result; value_depth must equal model
  bool weights = false;   ///< a second output, weights [tokens, keys]

  static constexpr std::string_view name = "single_head", meaning = "out = softmax((wq x) (wk x)^T) (wv x)";
  static constexpr auto fields = std::tuple{Field{"batched", &SingleHead::batched}, Field{"residual", &SingleHead::residual},
                                            Field{"weights", &SingleHead::weights}};

  constexpr void operator()(Graph& g) const {
    auto [tokens, keys, model, depth, value_depth] = g.dims("tokens", "keys", "model", "depth", "value_depth");
    const auto in_batch = [&](auto... dims) { return batched ? names_of({g.dim("batch"), dims...}) : names_of({dims...}); };
    const Value x = g.input("x", in_batch(tokens, model), Kind::real);
    const Value q = linear(x, g.input("wq", {depth, model}), model);
    const Value k = rename(linear(x, g.input("wk", {depth, model}), model), tokens, keys);
    const Value v = rename(linear(x, g.input("wv", {value_depth, model}), model), tokens, keys);
    const Value p = softmax(matmul(q, k, depth), keys);
    const Value result = matmul(p, v, keys);
    if (residual) g.output("out", x + rename(result, value_depth, model), in_batch(tokens, model));
    if (!residual) g.output("out", result, in_batch(tokens, value_depth));
    if (weights) g.output("weights", p, in_batch(tokens, keys));
  }
};

}  // namespace attune
