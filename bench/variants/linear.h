/// Linear layers, the kernels of bench/goals.toml that are no variants of attention.
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

/// The same with hidden = panels * column and w in panels [panels, model, column], which a product reads where they are.
struct LinearPanels {
  static constexpr std::string_view name = "linear_panels";
  static constexpr auto fields = std::tuple{};

  constexpr void operator()(attune::Graph& g) const {
    auto [rows, panels, column, model] = g.dims("rows", "panels", "column", "model");
    attune::Value x = g.input("x", {rows, model});
    attune::Value w = g.input("w", {panels, model, column});
    g.output("out", linear(x, w, model), {rows, panels, column});
  }
};
