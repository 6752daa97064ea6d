/// The angles by which rotary embedding turns queries and keys, once for all layers.
#pragma once

#include "dsl/graph.h"

namespace text_generation {

/// Inputs positions i64 [tokens]; outputs cosine and sine [tokens, pairs] of position * base^(-2 i / width).
struct Angles {
  double base = 100000;
  std::int64_t width = 64;

  static constexpr std::string_view name = "angles";
  static constexpr auto fields = std::tuple{attune::Field{"base", &Angles::base}, attune::Field{"width", &Angles::width}};

  constexpr void operator()(attune::Graph& g) const {
    const attune::Dim tokens = g.dim("tokens"), pairs = g.dim("pairs", width / 2);
    const attune::Value positions = g.input("positions", {tokens}, attune::Kind::i64);
    const attune::Value angles = rotary_angle(positions, rotary_steps(index(pairs), base, width));
    g.output("cosine", cos(angles), {tokens, pairs});
    g.output("sine", sin(angles), {tokens, pairs});
  }
};

}  // namespace text_generation
