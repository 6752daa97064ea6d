/// Causal attention, aligned at the bottom right: the last query sees every key, as when the first keys come from a cache.
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

/// With more queries than keys the first queries see no key, and their rows are zeros.
struct CausalOffset {
  static constexpr std::string_view name = "causal_offset",
                                    meaning = "out = softmax(q k^T / sqrt(depth), where j <= i + keys - queries) v";
  static constexpr auto fields = std::tuple{};

  constexpr void operator()(Graph& g) const {
    const Attention a(g);
    const Value past = extent(a.keys) - extent(a.queries);
    a.output(mask(a.scores(), index(a.keys) <= index(a.queries) + past));
  }
};

}  // namespace attune
