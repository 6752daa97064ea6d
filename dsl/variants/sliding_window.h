/// Causal attention to the nearest keys: each query sees itself and the `window - 1` keys before it.
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

struct SlidingWindow {
  std::int64_t window = 256;  ///< keys that a query sees, itself among them

  static constexpr std::string_view name = "sliding_window",
                                    meaning = "out = softmax(q k^T / sqrt(depth), where 0 <= i - j < window) v";
  static constexpr auto fields = std::tuple{Field{"window", &SlidingWindow::window}};

  constexpr void operator()(Graph& g) const {
    g.require(window >= 1, "window is ", window, "; it must be at least 1");
    const Attention a(g);
    const Value age = index(a.queries) - index(a.keys);
    a.output(mask(a.scores(), age >= 0 && age < window));
  }
};

}  // namespace attune
