/// Attention where a tensor of booleans says which key each query sees.
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

/// Input mask boolean [batch, queries, keys]: true where the query sees the key, in every head.
struct Masked {
  static constexpr std::string_view name = "masked",
                                    meaning = "out = softmax(q k^T / sqrt(depth), where mask[batch, i, j]) v";
  static constexpr auto fields = std::tuple{};

  constexpr void operator()(Graph& g) const {
    const Attention a(g);
    const Value is_visible = g.input("mask", {a.batch, a.queries, a.keys}, Kind::boolean);
    a.output(mask(a.scores(), is_visible));
  }
};

}  // namespace attune
