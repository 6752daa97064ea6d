/// Attention of each query to the keys of its greatest scores (Gupta et al. 2021; Zhao et al. 2019).
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

/// The scores of all pairs are computed and stored, and the greatest found; what it saves is weights. Of equal scores the first keys are taken.
struct TopKeys {
  std::int64_t count = 64;  ///< keys that a query sees; all where there are fewer
  bool causal = false;      ///< of itself and the keys before it

  static constexpr std::string_view name = "top_keys",
                                    meaning = "out = softmax(s, where s[i, j] is one of the count greatest of query i) v, s = q k^T / sqrt(depth); Gupta et al. 2021";
  static constexpr auto fields = std::tuple{Field{"count", &TopKeys::count}, Field{"causal", &TopKeys::causal}};

  constexpr void operator()(Graph& g) const {
    g.require(count >= 1 && count <= TopK::most, "count is ", count, "; it must be from 1 to ", TopK::most);
    if (!g.problem().empty()) return;
    const Attention a(g);
    const Value scores = causal ? mask(a.scores(), index(a.keys) <= index(a.queries)) : a.scores();
    a.output(mask(scores, top_k(scores, a.keys, count)));
  }
};

}  // namespace attune
