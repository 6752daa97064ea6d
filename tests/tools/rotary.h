/// A stage that is elementwise alone: rows of queries, turned by the angles of their positions.
#pragma once

#include "dsl/graph.h"

/// out[b, h, i, :, p] = (x0 cos - x1 sin, x0 sin + x1 cos), x0 and x1 the halves of x, the angle positions[b, i] * 10000^(-p / pairs).
struct Rotary {
  static constexpr std::string_view name = "rotary";
  static constexpr auto fields = std::tuple{};

  constexpr void operator()(attune::Graph& g) const {
    auto [batch, heads, queries, pairs] = g.dims("batch", "heads", "queries", "pairs");
    const attune::Dim half = g.dim("half", 2), side = g.dim("side");
    const attune::Value x = g.input("x", {batch, heads, queries, half, pairs});
    const attune::Value positions = g.input("positions", {batch, queries}, attune::Kind::i64);
    const attune::Value angles = to_real(positions) * exp(to_real(index(pairs)) * -9.210340371976184 / to_real(extent(pairs)));
    const attune::Value other = gather(x, 1 - index(side), half);
    g.output("out", rename(x, half, side) * cos(angles) + select(index(side) == 0, -1.0 * other, other) * sin(angles),
             {batch, heads, queries, side, pairs});
  }
};
