/// The first layer of a transformer: embeddings of the tokens, their positions, attention, and the sum with the embeddings.
#pragma once

#include "dsl/variants/projections.h"

namespace attune {

/// Where positions come from: a formula, or a table among the inputs.
enum class Positions { sinusoidal, learned };
constexpr std::array<std::string_view, 2> enumerators(Positions) { return {"sinusoidal", "learned"}; }

/// What the result of attention is added to: the embeddings, the embeddings with their positions, or nothing.
enum class EmbeddedResidual { embeddings, placed, none };
constexpr std::array<std::string_view, 3> enumerators(EmbeddedResidual) { return {"embeddings", "placed", "none"}; }

/// y[p, 2t] = sin(p * 10000^(-2t / model)), y[p, 2t + 1] = cos of the same: [tokens, model] (Vaswani et al. 2017).
constexpr Value sinusoidal_positions(Dim tokens, Dim model) {
  constexpr double ln_10000 = 9.210340371976182736;
  const Value pair = to_real(floor_div(index(model), 2));
  const Value rate = exp(pair * (-2 * ln_10000 / to_real(extent(model))));
  const Value angle = to_real(index(tokens)) * rate;
  return select(mod(index(model), 2) == 0, sin(angle), cos(angle));
}

/// Inputs tokens i64 [batch, tokens], embedding [vocabulary, model], those of Projections, and with learned positions
/// positions [tokens, model]; output out [batch, tokens, model].
struct Embedded {
  Positions positions = Positions::sinusoidal;
  bool biases = false;   ///< inputs bq, bk [heads, depth], bv [heads, value_depth], bo [model]
  bool lengths = false;  ///< input lengths i64 [batch]: the tokens of each sequence; what follows is padding
  bool scaled = false;   ///< embeddings times sqrt(model), as in Vaswani et al. 2017
  EmbeddedResidual residual = EmbeddedResidual::embeddings;  ///< placed is Vaswani's: e + positions + multi_head(e + positions)

  static constexpr std::string_view name = "embedded",
                                    meaning = "out = e + multi_head(e + positions), e = embedding[tokens]";
  static constexpr auto fields = std::tuple{Field{"positions", &Embedded::positions}, Field{"biases", &Embedded::biases},
                                            Field{"lengths", &Embedded::lengths}, Field{"scaled", &Embedded::scaled},
                                            Field{"residual", &Embedded::residual}};

  constexpr void operator()(Graph& g) const {
    const Projections a(g, biases);
    const Dim vocabulary = g.dim("vocabulary");
    const Value ids = g.input("tokens", {a.batch, a.tokens}, Kind::i64);
    Value e = gather(g.input("embedding", {vocabulary, a.model}), ids, vocabulary);  // [batch, tokens, model]
    if (scaled) e = scale(e, sqrt(extent(a.model)));
    const Value at = positions == Positions::learned ? g.input("positions", {a.tokens, a.model}) : sinusoidal_positions(a.tokens, a.model);
    const Value x = e + at;
    const Value q = a.queries_of(x), k = a.keys_of(x, a.tokens), v = a.values_of(x, a.tokens);
    Value scores = a.scores(q, k);  // [batch, tokens, heads, keys]
    if (lengths) scores = mask(scores, index(a.keys) < g.input("lengths", {a.batch}, Kind::i64));
    const Value result = a.joined(softmax(scores, a.keys), v);
    if (residual == EmbeddedResidual::none) a.output(result);
    else a.output_added(residual == EmbeddedResidual::placed ? x : e, result);
  }
};

}  // namespace attune
