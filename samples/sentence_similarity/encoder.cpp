#include "samples/sentence_similarity/encoder.h"

namespace sentence_similarity {

using attune::Result;

Result<Encoding> encode(Implementation& implementation, const Batch& batch, const Keep& keep) {
  Encoding result;
  std::vector<float> hidden(batch.hidden_size());
  std::vector<float> attended(batch.hidden_size());
  if (const auto done = implementation.embed(batch, hidden); !done) return done.error();
  for (int layer = 0; layer < Sizes::layers; ++layer) {
    if (keep.hidden) result.hidden.push_back(hidden);
    std::vector<float> weights(keep.weights_of_layer == layer ? batch.weights_size() : 0);
    if (const auto done = implementation.attend(layer, batch, hidden, attended, weights); !done) return done.error();
    if (!weights.empty()) result.weights = std::move(weights);
    if (const auto done = implementation.finish_layer(layer, batch, attended, hidden); !done) return done.error();
  }
  result.embeddings.resize(at(batch.sentences * Sizes::model));
  if (const auto done = implementation.pool(batch, hidden, result.embeddings); !done) return done.error();
  if (keep.hidden) result.hidden.push_back(std::move(hidden));
  return result;
}

}  // namespace sentence_similarity
