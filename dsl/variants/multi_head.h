/// A layer of self-attention: projections in, heads, projection out.
#pragma once

#include "dsl/variants/projections.h"

namespace attune {

/// Inputs x [batch, tokens, model] and those of Projections; output out [batch, tokens, model], with panels
/// [batch, tokens, panels, column], the same memory, and without wo [batch, tokens, heads, value_depth]. The number of heads and the widths of keys
/// and values are the extents of the weights.
struct MultiHead {
  bool biases = false;         ///< inputs bq, bk [heads, depth], bv [heads, value_depth], bo [model]
  bool score_weights = false;  ///< input score_weights [batch, heads, tokens, keys]: factors of the scaled scores
  bool mask = false;           ///< input mask boolean [batch, tokens, keys]: true where a token sees a key, in every head
  bool head_mask = false;      ///< input head_mask boolean [batch, heads, tokens, keys]: the same for each head
  bool lengths = false;        ///< input lengths i64 [batch]: the tokens of each sequence; what follows is padding
  double dropout = 0;          ///< the rate of zeros among the weights; above 0 there are inputs seed and offset, i64
  bool weights = false;        ///< a second output, weights [batch, heads, tokens, keys], before dropout
  bool panels = false;         ///< weights in panels: wq, wk [heads, model, depth], wv [heads, model, value_depth], wo as Projections says
  bool in_out = false;         ///< weights (in x out): wq, wk [model, heads, depth], wv [model, heads, value_depth], wo [heads, value_depth, model]
  bool projected = true;       ///< without, there is no wo and no bo: out is the heads side by side
  bool residual = false;       ///< out [batch, tokens, model] = x + the result

  static constexpr std::string_view name = "multi_head",
                                    meaning = "out = wo concat over heads of softmax(q k^T / sqrt(depth)) v, q = wq x, k = wk x, v = wv x";
  static constexpr auto fields =
      std::tuple{Field{"biases", &MultiHead::biases},   Field{"score_weights", &MultiHead::score_weights},
                 Field{"mask", &MultiHead::mask},       Field{"head_mask", &MultiHead::head_mask},
                 Field{"lengths", &MultiHead::lengths}, Field{"dropout", &MultiHead::dropout},
                 Field{"weights", &MultiHead::weights}, Field{"panels", &MultiHead::panels},
                 Field{"in_out", &MultiHead::in_out},   Field{"projected", &MultiHead::projected},
                 Field{"residual", &MultiHead::residual}};

  constexpr void operator()(Graph& g) const {
    const Projections a(g, biases, panels, in_out);
    const Value x = g.input("x", {a.batch, a.tokens, a.model});
    const Value q = a.queries_of(x), k = a.keys_of(x, a.tokens), v = a.values_of(x, a.tokens);
    Value scores = a.scores(q, k);  // [batch, tokens, heads, keys]
    if (score_weights) scores = scores * g.input("score_weights", {a.batch, a.heads, a.tokens, a.keys});
    if (mask) scores = attune::mask(scores, g.input("mask", {a.batch, a.tokens, a.keys}, Kind::boolean));
    if (head_mask) scores = attune::mask(scores, g.input("head_mask", {a.batch, a.heads, a.tokens, a.keys}, Kind::boolean));
    if (lengths) scores = attune::mask(scores, index(a.keys) < g.input("lengths", {a.batch}, Kind::i64));
    const Value p = softmax(scores, a.keys);
    Value kept = p;
    if (dropout != 0) {
      const Value seed = g.input("seed", {}, Kind::i64), offset = g.input("offset", {}, Kind::i64);
      kept = attune::dropout(p, dropout, seed, offset);
    }
    const Value result = projected ? a.joined(kept, v) : a.by_head(kept, v);
    residual ? a.output_added(x, result) : a.output(result);
    if (weights) g.output("weights", p, {a.batch, a.heads, a.tokens, a.keys});
  }
};

}  // namespace attune
