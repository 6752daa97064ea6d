/// Attention of queries and keys that are turned by their positions, the kernel of bench/goals.toml for rotary embedding.
#pragma once

#include "dsl/graph.h"
#include "dsl/variants/attention.h"

/// The elements i and depth / 2 + i are a pair; positions are those of queries and keys. Su et al., 2021.
struct Rotary {
  static constexpr std::string_view name = "rotary";
  static constexpr auto fields = std::tuple{};

  constexpr void operator()(attune::Graph& g) const {
    const attune::Attention a(g);
    const attune::Dim pairs = g.dim("pairs", width / 2);
    const attune::Value steps = attune::rotary_steps(index(pairs), 10000, width);
    const auto turned = [&](attune::Value x, attune::Dim tokens) {
      return attune::rotary_embedding(x, attune::rotary_angle(index(tokens), steps), a.depth, pairs, attune::RotaryPairs::half_split);
    };
    a.output(scale(matmul(turned(a.q, a.queries), turned(a.k, a.keys), a.depth), 1 / sqrt(extent(a.depth))));
  }
  static constexpr std::int64_t width = 64;  ///< elements that are turned
};
