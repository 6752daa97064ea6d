/// Attention to a window and to chosen tokens, which see and are seen by all (Beltagy et al. 2020, Longformer).
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

/// Input global boolean [batch, queries]: true for the tokens that see all and are seen by all; there are as many keys as queries.
struct GlobalWindow {
  std::int64_t window = 32;  ///< the farthest key that is seen on each side: 2 window + 1 keys
  bool causal = false;       ///< no query sees what is behind it, not even a global one

  static constexpr std::string_view
      name = "global_window",
      meaning =
          "out = softmax(q k^T / sqrt(depth), where |i - j| <= window or global[batch, i] or global[batch, j]) v; Beltagy et al. 2020";
  static constexpr auto fields = std::tuple{Field{"window", &GlobalWindow::window}, Field{"causal", &GlobalWindow::causal}};

  constexpr void operator()(Graph& g) const {
    g.require(window >= 0, "window is ", window, "; it must be at least 0");
    const Attention a(g);
    const Value global = g.input("global", {a.batch, a.queries}, Kind::boolean);
    const Value age = index(a.queries) - index(a.keys);
    Value scores = mask(a.scores(), abs(age) <= window || global || rename(global, a.queries, a.keys));
    if (causal) scores = mask(scores, age >= 0);
    a.output(scores);
  }
};

}  // namespace attune
