/// The decoder in Attune's kernels: tokens go in, the logits of the next one come out.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "runtime/kernel.h"
#include "runtime/workspace.h"
#include "samples/text_generation/model.h"
#include "samples/text_generation/tokenizer.h"

namespace text_generation {

/// Memory is that of the cache, of which a row is touched when its token is read, and of `tile` tokens' intermediates. Runs on Attune's threads
/// (runtime/threads.h).
class Decoder {
 public:
  static constexpr std::int64_t tile = 512;  ///< tokens that go through the layers at once

  /// Of a model that outlives it, for `capacity` tokens. Refuses a machine for which the kernels have no code.
  static Result<Decoder> of(const Model& model, std::int64_t capacity = Sizes::context);

  /// Reads one token or more behind those before; gives the logits [vocabulary] of the token that follows, valid until the next call. Refuses tokens
  /// for which the capacity is too small, before any is read.
  Result<std::span<const float>> read(std::span<const Token> tokens);

  /// How many tokens were read.
  std::int64_t position() const { return position_; }
  std::int64_t capacity() const { return capacity_; }
  /// Forgets the tokens from `position` on.
  void go_back_to(std::int64_t position) { position_ = std::min(position, position_); }

 private:
  struct Compiled {
    attune::Kernel angles, embed, layer, logits;
  };
  /// Keys and values of a layer: [kv_heads, capacity, depth] each.
  struct Cache {
    std::unique_ptr<float[]> keys, values;
  };
  Decoder(const Model& model, Compiled compiled, std::int64_t capacity);
  static Result<Compiled> compiled_for(WeightForm form);

  Result<void> read_tile(std::span<const Token> tokens);
  Result<void> run_layer(const Layer& layer, Cache& cache, std::int64_t tokens);
  Result<void> call(const attune::Kernel& kernel, std::span<const attune::Tensor> tensors);

  const Model& model_;
  Compiled compiled_;
  std::int64_t capacity_ = 0, position_ = 0;
  std::vector<Cache> caches_;
  std::vector<float> x_, y_, cosine_, sine_, logits_;  // of a tile of tokens: [tokens, model], [tokens, depth / 2]
  std::unique_ptr<attune::Workspace> workspace_ = std::make_unique<attune::Workspace>();
};

}  // namespace text_generation
