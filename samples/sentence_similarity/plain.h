/// The encoder in plain C++ loops: what one writes without a library, to compare with.
#pragma once

#include <array>

#include "samples/sentence_similarity/encoder.h"
#include "samples/sentence_similarity/model.h"

namespace sentence_similarity {

/// One thread; rows after a sentence's end are skipped and stay as they were.
class PlainLoops final : public Implementation {
 public:
  /// The steps of the attention, all row-major.
  struct Attention {
    std::vector<float> query, key, value;  ///< [sentences, heads, tokens, depth]
    std::vector<float> weights;            ///< [sentences, heads, queries, keys]
    std::vector<float> context;            ///< [sentences, tokens, model], head h in columns depth * h ...
  };

  /// Keeps a reference to the model, and its matrices transposed, so that inner loops run along memory.
  explicit PlainLoops(const Model& model);

  std::string_view name() const override { return "plain C++ loops"; }
  attune::Result<void> embed(const Batch& batch, std::span<float> hidden) override;
  attune::Result<void> attend(int layer, const Batch& batch, std::span<const float> x, std::span<float> out,
                              std::span<float> weights) override;
  attune::Result<void> finish_layer(int layer, const Batch& batch, std::span<const float> attended, std::span<float> hidden) override;
  attune::Result<void> pool(const Batch& batch, std::span<const float> hidden, std::span<float> embeddings) override;

  Attention attention(int layer, const Batch& batch, std::span<const float> x) const;

 private:
  struct Transposed {
    std::vector<float> weight;  ///< [in, out]
    std::span<const float> bias;
    std::int64_t in, out;
  };
  struct TransposedLayer {
    Transposed query, key, value, projection, expand, contract;
  };

  static Transposed transposed(const Linear& linear, std::int64_t in);
  static void apply(const Transposed& linear, const float* x, float* y, std::int64_t rows);
  static void split_heads(const Transposed& linear, const Batch& batch, std::span<const float> x, std::vector<float>& out);

  const Model& model_;
  std::array<TransposedLayer, Sizes::layers> layers_;
};

}  // namespace sentence_similarity
