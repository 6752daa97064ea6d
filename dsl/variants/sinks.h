/// Causal attention to the first keys and the nearest ones, as streaming decoders keep them (Xiao et al. 2024).
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

struct Sinks {
  std::int64_t sinks = 4;     ///< keys at the front that every query sees once it has reached them
  std::int64_t window = 256;  ///< keys that a query sees, itself among them, beside the sinks

  static constexpr std::string_view name = "sinks",
                                    meaning = "out = softmax(q k^T / sqrt(depth), where j <= i and (j < sinks or i - j < window)) v; Xiao et al. 2024";
  static constexpr auto fields = std::tuple{Field{"sinks", &Sinks::sinks}, Field{"window", &Sinks::window}};

  constexpr void operator()(Graph& g) const {
    g.require(sinks >= 0, "sinks is ", sinks, "; it must be at least 0");
    g.require(window >= 1, "window is ", window, "; it must be at least 1");
    const Attention a(g);
    const Value age = index(a.queries) - index(a.keys);
    a.output(mask(a.scores(), age >= 0 && (index(a.keys) < sinks || age < window)));
  }
};

}  // namespace attune
