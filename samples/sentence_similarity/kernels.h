/// The encoder in Attune's kernels, compiled ahead of time from the graphs in variants/ and from Attune's own multi_head.
#pragma once

#include "samples/sentence_similarity/encoder.h"
#include "samples/sentence_similarity/model.h"

namespace sentence_similarity {

/// Runs on Attune's threads (runtime/threads.h).
class Kernels final : public Implementation {
 public:
  /// Keeps a reference to the model, whose weights the kernels read as they are in its file.
  explicit Kernels(const Model& model) : model_(model) {}

  std::string_view name() const override { return "Attune kernels"; }
  attune::Result<void> embed(const Batch& batch, std::span<float> hidden) override;
  attune::Result<void> attend(int layer, const Batch& batch, std::span<const float> x, std::span<float> out,
                              std::span<float> weights) override;
  attune::Result<void> finish_layer(int layer, const Batch& batch, std::span<const float> attended, std::span<float> hidden) override;
  attune::Result<void> pool(const Batch& batch, std::span<const float> hidden, std::span<float> embeddings) override;

 private:
  const Model& model_;
};

}  // namespace sentence_similarity
