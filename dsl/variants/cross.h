/// A layer of cross-attention: queries from the tokens, keys and values from a memory (an encoder's output, an image).
#pragma once

#include "dsl/variants/projections.h"

namespace attune {

/// Inputs x [batch, tokens, model], memory [batch, memory_tokens, model] and those of Projections; output
/// out [batch, tokens, model], with panels [batch, tokens, panels, column].
struct Cross {
  bool biases = false;   ///< inputs bq, bk [heads, depth], bv [heads, value_depth], bo [model]
  bool mask = false;     ///< input mask boolean [batch, tokens, keys]: true where a token sees a key, in every head
  bool lengths = false;  ///< input lengths i64 [batch]: the tokens of each memory; what follows is padding
  bool weights = false;  ///< a second output, weights [batch, heads, tokens, keys]
  bool panels = false;   ///< weights in panels: wq, wk [heads, model, depth], wv [heads, model, value_depth], wo as Projections says

  static constexpr std::string_view name = "cross",
                                    meaning = "out = wo concat over heads of softmax(q k^T / sqrt(depth)) v, q = wq x, k = wk memory, v = wv memory";
  static constexpr auto fields =
      std::tuple{Field{"biases", &Cross::biases}, Field{"mask", &Cross::mask}, Field{"lengths", &Cross::lengths},
                 Field{"weights", &Cross::weights}, Field{"panels", &Cross::panels}};

  constexpr void operator()(Graph& g) const {
    const Projections a(g, biases, panels);
    const Dim memory_tokens = g.dim("memory_tokens");
    const Value x = g.input("x", {a.batch, a.tokens, a.model});
    const Value memory = g.input("memory", {a.batch, memory_tokens, a.model});
    const Value q = a.queries_of(x), k = a.keys_of(memory, memory_tokens), v = a.values_of(memory, memory_tokens);
    Value scores = a.scores(q, k);  // [batch, tokens, heads, keys]
    if (mask) scores = attune::mask(scores, g.input("mask", {a.batch, a.tokens, a.keys}, Kind::boolean));
    if (lengths) scores = attune::mask(scores, index(a.keys) < g.input("lengths", {a.batch}, Kind::i64));
    const Value p = softmax(scores, a.keys);
    a.output(a.joined(p, v));
    if (weights) g.output("weights", p, {a.batch, a.heads, a.tokens, a.keys});
  }
};

}  // namespace attune
