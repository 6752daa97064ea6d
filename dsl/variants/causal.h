/// Causal attention, aligned at the top left: query i sees the keys j <= i, whatever the numbers of queries and keys.
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

struct Causal {
  static constexpr std::string_view name = "causal", meaning = "out = softmax(q k^T / sqrt(depth), where i >= j) v";
  static constexpr auto fields = std::tuple{};

  constexpr void operator()(Graph& g) const {
    const Attention a(g);
    a.output(mask(a.scores(), index(a.queries) >= index(a.keys)));
  }
};

}  // namespace attune
