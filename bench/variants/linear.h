/// A linear layer, the kernel of bench/goals.toml that is no variant of attention.
#pragma once

#include "dsl/graph.h"

/// y = x w^T, w [hidden, model] as PyTorch stores it.
struct Linear {
  static constexpr std::string_view name = "linear";
  static constexpr auto fields = std::tuple{};

  constexpr void operator()(attune::Graph& g) const {
    auto [rows, hidden, model] = g.dims("rows", "hidden", "model");
    attune::Value x = g.input("x", {rows, model});
    attune::Value w = g.input("w", {hidden, model});
    g.output("out", linear(x, w, model), {rows, hidden});
  }
};
