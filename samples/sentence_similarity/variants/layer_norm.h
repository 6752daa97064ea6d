/// Layer normalisation as a piece of the encoder's variants.
#pragma once

#include "dsl/graph.h"

namespace sentence_similarity {

/// (x - mean) / sqrt(variance + 1e-12) * weight + bias, mean and variance along model; inputs `weight` and `bias` [model].
constexpr attune::Value layer_norm(attune::Graph& g, attune::Value x, attune::Dim model, attune::Name weight, attune::Name bias) {
  const attune::Value width = to_real(extent(model));
  const attune::Value centred = x - sum(x, model) / width;
  const attune::Value variance = sum(centred * centred, model) / width;
  const attune::Value factor = g.input(weight, {model}), offset = g.input(bias, {model});
  return centred / sqrt(variance + 1e-12) * factor + offset;
}

}  // namespace sentence_similarity
