/// Causal attention behind a prefix that every query sees, such as a question before its answer (Raffel et al. 2020).
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

/// Input prefix i64 [batch]: the keys at the front of each sequence that all queries see; 0 leaves causal attention.
struct PrefixLm {
  static constexpr std::string_view name = "prefix_lm",
                                    meaning = "out = softmax(q k^T / sqrt(depth), where j < prefix[batch] or j <= i) v; Raffel et al. 2020";
  static constexpr auto fields = std::tuple{};

  constexpr void operator()(Graph& g) const {
    const Attention a(g);
    const Value prefix = g.input("prefix", {a.batch}, Kind::i64);
    a.output(mask(a.scores(), index(a.keys) < prefix || index(a.keys) <= index(a.queries)));
  }
};

}  // namespace attune
