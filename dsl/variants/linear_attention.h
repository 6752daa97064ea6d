/// Attention whose weights are products of features of queries and keys (Katharopoulos et al. 2020): keys and values are summed up first where every
/// query sees them all; where queries see the keys before them, the weights are computed in tiles.
#pragma once

#include "dsl/variants/attention.h"
#include "dsl/variants/feature_map.h"

namespace attune {

struct LinearAttention {
  FeatureMap feature_map = FeatureMap::identity;  ///< f
  bool normalised = false;                        ///< rows are divided by the sum of their weights; one whose sum is 0 gives zeros
  bool causal = false;                            ///< each query sees itself and the keys before it

  static constexpr std::string_view name = "linear_attention", meaning = "out = f(q) (f(k)^T v); Katharopoulos et al. 2020";
  static constexpr auto fields = std::tuple{Field{"feature_map", &LinearAttention::feature_map},
                                            Field{"normalised", &LinearAttention::normalised}, Field{"causal", &LinearAttention::causal}};

  constexpr void operator()(Graph& g) const {
    const Attention a(g);
    const Value q = features_of(feature_map, a.q), k = features_of(feature_map, a.k);
    g.output("out", causal ? of_weights(a, q, k) : of_sums(a, q, k), {a.batch, a.heads, a.queries, a.value_depth});
  }

 private:
  constexpr Value of_sums(const Attention& a, Value q, Value k) const {
    const Value result = matmul(q, matmul(k, a.v, a.keys), a.depth);
    return normalised ? divided(result, matmul(q, sum(k, a.keys), a.depth)) : result;
  }
  constexpr Value of_weights(const Attention& a, Value q, Value k) const {
    const Value weights = a.causal(matmul(q, k, a.depth)), result = matmul(weights, a.v, a.keys);
    return normalised ? divided(result, sum(weights, a.keys)) : result;
  }
  static constexpr Value divided(Value result, Value total) { return result / select(total == 0, 1, total); }
};

}  // namespace attune
