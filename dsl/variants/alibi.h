/// Attention with linear biases: a head likes a key the less, the further it is before the query (Press et al. 2022).
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

/// 2^(-8 (h + 1) / heads): [heads]. The paper's slopes where the number of heads is a power of two.
constexpr Value alibi_slopes(Dim heads) {
  constexpr double ln_2 = 0.693147180559945309;
  return exp(to_real(index(heads) + 1) * (-8 * ln_2 / to_real(extent(heads))));
}

/// Without `causal` keys behind the query are seen too, and liked the better, the further they are.
struct Alibi {
  bool causal = false;  ///< each query sees itself and the keys before it, as in the paper

  static constexpr std::string_view name = "alibi",
                                    meaning = "out = softmax(q k^T / sqrt(depth) + (j - i) 2^(-8 (h + 1) / heads)) v; Press et al. 2022";
  static constexpr auto fields = std::tuple{Field{"causal", &Alibi::causal}};

  constexpr void operator()(Graph& g) const {
    const Attention a(g);
    const Value distance = index(a.keys) - index(a.queries);
    const Value scores = a.scores() + to_real(distance) * alibi_slopes(a.heads);
    a.output(causal ? mask(scores, distance <= 0) : scores);
  }
};

}  // namespace attune
