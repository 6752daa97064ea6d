/// Attention with a tensor beside the scores: added to them, as masks of reals and pair biases are, or multiplied with them.
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

/// Input bias, or factors with `multiplies`, of those of [batch, heads, queries, keys] that are asked for; where the scaled scores have
/// more dims it is the same along them. A bias of minus infinity hides a key, but its block is computed: what hides much should be a mask.
struct Biased {
  bool batch = false, heads = true, queries = true, keys = true;  ///< the tensor's dims
  bool multiplies = false;                                        ///< the scores are multiplied

  static constexpr std::string_view
      name = "biased",
      meaning =
          "out = softmax(q k^T / sqrt(depth) + bias[h, i, j]) v, or times factors[h, i, j]; bias also by batch, and "
          "the same along what it lacks";
  static constexpr auto fields =
      std::tuple{Field{"batch", &Biased::batch}, Field{"heads", &Biased::heads}, Field{"queries", &Biased::queries},
                 Field{"keys", &Biased::keys}, Field{"multiplies", &Biased::multiplies}};

  constexpr void operator()(Graph& g) const {
    g.require(batch || heads || queries || keys, "the bias has no dim; it must have one of batch, heads, queries and keys");
    const Attention a(g);
    Names dims;
    for (const auto& [is_there, dim] : {std::pair{batch, a.batch}, {heads, a.heads}, {queries, a.queries}, {keys, a.keys}})
      if (is_there) dims.add(dim.name);
    const Value beside = g.input(multiplies ? "factors" : "bias", dims, Kind::real);
    a.output(multiplies ? a.scores() * beside : a.scores() + beside);
  }
};

}  // namespace attune
