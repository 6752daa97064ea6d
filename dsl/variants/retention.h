/// Retention in its parallel form: the weight of a key decays with its distance from the query, by a factor of each head (Sun et al. 2023).
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

/// Input log_gamma [heads]: ln gamma, by which a weight changes from one key to the one before it; what is above 0 counts as 0, that is no decay.
struct Retention {
  bool normalised = false;  ///< rows are divided by max(|sum of their weights|, 1), as in the paper

  static constexpr std::string_view name = "retention",
                                    meaning = "out = sum_(j <= i) (q k^T / sqrt(depth)) gamma[h]^(i - j) v; Sun et al. 2023";
  static constexpr auto fields = std::tuple{Field{"normalised", &Retention::normalised}};

  constexpr void operator()(Graph& g) const {
    const Attention a(g);
    const Value log_gamma = minimum(g.input("log_gamma", {a.heads}), 0);
    // the powers of every distance i - j there is, from queries down to -keys, once and not for each pair; negative ones are of no visible pair
    const Dim span = g.dim("span");
    const Value distance = concat({{extent(a.queries) - index(a.queries), a.queries}, {-index(a.keys), a.keys}}, span);
    const Value powers = exp(to_real(maximum(distance, 0)) * log_gamma);  // [span, heads]
    const Value decay = gather(powers, extent(a.queries) - (index(a.queries) - index(a.keys)), span);
    const Value weights = a.causal(a.scores() * decay);
    const Value sums = matmul(weights, a.v, a.keys);
    const Value result = normalised ? sums / maximum(abs(sum(weights, a.keys)), 1) : sums;
    g.output("out", result, {a.batch, a.heads, a.queries, a.value_depth});
  }
};

}  // namespace attune
