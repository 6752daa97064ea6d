/// What follows attention in a layer of the encoder.
#pragma once

#include "layer_norm.h"

namespace sentence_similarity {

/// out = norm(contract gelu(expand a) + a) with a = norm(attended + x); gelu(e) = e (1 + erf(e / sqrt(2))) / 2.
struct FinishLayer {
  static constexpr std::string_view name = "finish_layer";
  static constexpr auto fields = std::tuple{};

  constexpr void operator()(attune::Graph& g) const {
    auto [rows, model, hidden] = g.dims("rows", "model", "hidden");
    const attune::Value attended = g.input("attended", {rows, model}), x = g.input("x", {rows, model});
    const attune::Value a = layer_norm(g, attended + x, model, "attention_weight", "attention_bias");
    const attune::Value expand = g.input("expand", {hidden, model}), expand_bias = g.input("expand_bias", {hidden});
    const attune::Value e = linear(a, expand, expand_bias, model);
    const attune::Value gelu = e * (1 + erf(e / 1.4142135623730951)) / 2;
    const attune::Value contract = g.input("contract", {model, hidden}), contract_bias = g.input("contract_bias", {model});
    g.output("out", layer_norm(g, linear(gelu, contract, contract_bias, hidden) + a, model, "output_weight", "output_bias"), {rows, model});
  }
};

}  // namespace sentence_similarity
