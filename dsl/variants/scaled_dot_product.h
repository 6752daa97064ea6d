/// Attention as in "Attention Is All You Need": every query sees every key.
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

struct ScaledDotProduct {
  bool scaled = true;        ///< without, the scores are q k^T as they are (Luong, Pham, Manning 2015, 'dot')
  bool weights = false;      ///< another output, weights [batch, heads, queries, keys]
  bool lse = false;          ///< another output, lse [batch, heads, queries]: the logarithm of what the softmax divides by
  bool mask = false;         ///< input mask boolean [batch, queries, keys]: true where a query sees a key; `masked` has other dims
  double dropout = 0;        ///< the rate of zeros among the weights that v is multiplied by; above 0 there are inputs seed and offset, i64
  bool row_max = false;      ///< another output, row_max [batch, heads, queries]: the greatest score of a query, minus infinity without keys
  bool column_sums = false;  ///< another output, column_sums [batch, heads, keys]: the weights of a key, summed over the queries
  bool entropy = false;      ///< another output, entropy [batch, heads, queries]: -sum_j p_j ln p_j of a query's weights

  static constexpr std::string_view name = "scaled_dot_product", meaning = "out = softmax(q k^T / sqrt(depth)) v";
  static constexpr auto fields = std::tuple{
      Field{"scaled", &ScaledDotProduct::scaled},   Field{"weights", &ScaledDotProduct::weights},     Field{"lse", &ScaledDotProduct::lse},
      Field{"mask", &ScaledDotProduct::mask},       Field{"dropout", &ScaledDotProduct::dropout},     Field{"row_max", &ScaledDotProduct::row_max},
      Field{"column_sums", &ScaledDotProduct::column_sums}, Field{"entropy", &ScaledDotProduct::entropy}};

  constexpr void operator()(Graph& g) const {
    const Attention a(g);
    Value scores = scaled ? a.scores() : matmul(a.q, a.k, a.depth);
    if (mask) scores = attune::mask(scores, g.input("mask", {a.batch, a.queries, a.keys}, Kind::boolean));
    const Value p = softmax(scores, a.keys);
    Value kept = p;
    if (dropout != 0) {
      const Value seed = g.input("seed", {}, Kind::i64), offset = g.input("offset", {}, Kind::i64);
      kept = attune::dropout(p, dropout, seed, offset);
    }
    a.output(kept, a.v);
    if (weights) g.output("weights", p, {a.batch, a.heads, a.queries, a.keys});
    if (lse) a.output_lse(scores);
    if (row_max) g.output("row_max", max(scores, a.keys), {a.batch, a.heads, a.queries});
    if (column_sums) g.output("column_sums", sum(p, a.queries), {a.batch, a.heads, a.keys});
    if (entropy) g.output("entropy", -sum(select(p == 0, 0, p * log(p)), a.keys), {a.batch, a.heads, a.queries});
  }
};

}  // namespace attune
