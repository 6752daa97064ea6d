/// The encoder in Attune's kernels, compiled ahead of time from the graphs in variants/ and from Attune's own multi_head.
#pragma once

#include "runtime/kernel.h"
#include "samples/sentence_similarity/encoder.h"
#include "samples/sentence_similarity/model.h"

namespace sentence_similarity {

/// Runs on Attune's threads (runtime/threads.h). Padding is left out of what is computed row by row.
class Kernels final : public Implementation {
 public:
  /// Keeps a reference to the model, whose weights the kernels read as they are in its file. Refuses a machine without AVX2.
  static attune::Result<Kernels> of(const Model& model);

  std::string_view name() const override { return "Attune kernels"; }
  attune::Result<void> embed(const Batch& batch, std::span<float> hidden) override;
  attune::Result<void> attend(int layer, const Batch& batch, std::span<const float> x, std::span<float> out,
                              std::span<float> weights) override;
  attune::Result<void> finish_layer(int layer, const Batch& batch, std::span<const float> attended, std::span<float> hidden) override;
  attune::Result<void> pool(const Batch& batch, std::span<const float> hidden, std::span<float> embeddings) override;

 private:
  struct Compiled {
    attune::Kernel embed, attention, attention_weights, finish_layer, pool;
  };
  Kernels(const Model& model, Compiled compiled) : model_(model), compiled_(std::move(compiled)) {}

  const Model& model_;
  Compiled compiled_;
  std::vector<float> attended_, hidden_, finished_;  // of the real tokens, side by side
};

}  // namespace sentence_similarity
