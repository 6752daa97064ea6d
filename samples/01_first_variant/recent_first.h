/// A variant of one's own: attention that prefers what was said last.
#pragma once

#include "dsl/graph.h"

/// A query sees itself and the keys before it; each step back costs `slope` of the score (ALiBi, Press et al. 2022).
struct RecentFirst {
  double slope = 0.5;  // `PARAM slope=0.7` in CMake and `--param slope=0.7` on the command line set it

  static constexpr std::string_view name = "recent_first";
  static constexpr auto fields = std::tuple{attune::Field{"slope", &RecentFirst::slope}};  // after the members that it names

  constexpr void operator()(attune::Graph& g) const {
    // Dims have names, and everything below goes by them: no transposes, no axis numbers.
    auto [heads, queries, keys, depth, value_depth] = g.dims("heads", "queries", "keys", "depth", "value_depth");
    // The order of an input's dims is their order in memory, outermost first.
    attune::Value q = g.input("q", {heads, queries, depth});
    attune::Value k = g.input("k", {heads, keys, depth});
    attune::Value v = g.input("v", {heads, keys, value_depth});

    attune::Value scores = scale(matmul(q, k, depth), 1 / sqrt(extent(depth)));  // [heads, queries, keys]
    attune::Value age = index(queries) - index(keys);                            // [queries, keys], of kind i64
    scores = mask(scores - slope * to_real(age), age >= 0);
    // The scores are never stored, and blocks of keys that no query sees are not computed.
    g.output("out", matmul(softmax(scores, keys), v, keys), {heads, queries, value_depth});
  }
};
