/// Attention with linear biases: a head likes a key the less, the further it is before the query (Press et al. 2022).
#pragma once

#include "dsl/variants/alignment.h"
#include "dsl/variants/attention.h"

namespace attune {

/// 2^(-8 (h + 1) / heads): [heads]. The paper's slopes where the number of heads is a power of two.
constexpr Value alibi_slopes(Dim heads) {
  constexpr double ln_2 = 0.693147180559945309;
  return exp(to_real(index(heads) + 1) * (-8 * ln_2 / to_real(extent(heads))));
}

/// The three forms that systems have: slope (j - i), as attention-gym and FlashInfer; -slope |i + keys - queries - j|, FlashAttention's, is
/// symmetric and aligned at the bottom right. Without `symmetric` keys behind the query are liked the better, the further they are, unless
/// they are hidden.
struct Alibi {
  bool causal = false;     ///< each query sees itself and the keys before it, as in the paper
  bool symmetric = false;  ///< the bias falls on both sides of the query
  bool slopes = false;     ///< input slopes [heads], above 0, in place of the formula
  Alignment alignment = Alignment::top_left;

  static constexpr std::string_view
      name = "alibi",
      meaning =
          "out = softmax(q k^T / sqrt(depth) + (j - p) 2^(-8 (h + 1) / heads)) v, or -|j - p|, p = i or i + keys - queries; Press "
          "et al. 2022";
  static constexpr auto fields = std::tuple{Field{"causal", &Alibi::causal}, Field{"symmetric", &Alibi::symmetric},
                                            Field{"slopes", &Alibi::slopes}, Field{"alignment", &Alibi::alignment}};

  constexpr void operator()(Graph& g) const {
    const Attention a(g);
    const Value distance = index(a.keys) - place_of(a, alignment);
    const Value slope = slopes ? g.input("slopes", {a.heads}) : alibi_slopes(a.heads);
    const Value scores = a.scores() + to_real(symmetric ? -abs(distance) : distance) * slope;
    a.output(causal ? mask(scores, distance <= 0) : scores);
  }
};

}  // namespace attune
