/// A layer of cross-attention: queries from the tokens, keys and values from a memory (an encoder's output, an image).
#pragma once

#include "dsl/variants/projections.h"

namespace attune {

/// Inputs x [batch, tokens, model], memory [batch, memory_tokens, model] and those of Projections; output out [batch, tokens, model], with panels
/// [batch, tokens, panels, column], and without wo [batch, tokens, heads, value_depth].
struct Cross {
  bool values = false;     ///< input values [batch, memory_tokens, model], of which v is made, not of the memory: three sources
  bool biases = false;     ///< inputs bq, bk [heads, depth], bv [heads, value_depth], bo [model]
  bool mask = false;       ///< input mask boolean [batch, tokens, keys]: true where a token sees a key, in every head
  bool head_mask = false;  ///< input head_mask boolean [batch, heads, tokens, keys]: the same for each head
  bool lengths = false;    ///< input lengths i64 [batch]: the tokens of each memory; what follows is padding
  bool weights = false;    ///< a second output, weights [batch, heads, tokens, keys]
  bool panels = false;     ///< weights in panels: wq, wk [heads, model, depth], wv [heads, model, value_depth], wo as Projections says
  bool in_out = false;     ///< weights (in x out): wq, wk [model, heads, depth], wv [model, heads, value_depth], wo [heads, value_depth, model]
  bool projected = true;   ///< without, there is no wo and no bo: out is the heads side by side
  bool residual = false;   ///< out [batch, tokens, model] = x + the result

  static constexpr std::string_view name = "cross",
                                    meaning = "out = wo concat over heads of softmax(q k^T / sqrt(depth)) v, q = wq x, k = wk memory, v = wv memory";
  static constexpr auto fields =
      std::tuple{Field{"values", &Cross::values},       Field{"biases", &Cross::biases},   Field{"mask", &Cross::mask},
                 Field{"head_mask", &Cross::head_mask}, Field{"lengths", &Cross::lengths}, Field{"weights", &Cross::weights},
                 Field{"panels", &Cross::panels},       Field{"in_out", &Cross::in_out},   Field{"projected", &Cross::projected},
                 Field{"residual", &Cross::residual}};

  constexpr void operator()(Graph& g) const {
    const Projections a(g, biases, panels, in_out);
    const Dim memory_tokens = g.dim("memory_tokens");
    const Value x = g.input("x", {a.batch, a.tokens, a.model});
    const Value memory = g.input("memory", {a.batch, memory_tokens, a.model});
    const Value source_of_values = values ? g.input("values", {a.batch, memory_tokens, a.model}) : memory;
    const Value q = a.queries_of(x), k = a.keys_of(memory, memory_tokens), v = a.values_of(source_of_values, memory_tokens);
    Value scores = a.scores(q, k);  // [batch, tokens, heads, keys]
    if (mask) scores = attune::mask(scores, g.input("mask", {a.batch, a.tokens, a.keys}, Kind::boolean));
    if (head_mask) scores = attune::mask(scores, g.input("head_mask", {a.batch, a.heads, a.tokens, a.keys}, Kind::boolean));
    if (lengths) scores = attune::mask(scores, index(a.keys) < g.input("lengths", {a.batch}, Kind::i64));
    const Value p = softmax(scores, a.keys);
    const Value result = projected ? a.joined(p, v) : a.by_head(p, v);
    residual ? a.output_added(x, result) : a.output(result);
    if (weights) g.output("weights", p, {a.batch, a.heads, a.tokens, a.keys});
  }
};

}  // namespace attune
