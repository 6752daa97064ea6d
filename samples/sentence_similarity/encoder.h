/// The encoder: the order of its parts, whoever computes them.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "runtime/result.h"
#include "samples/sentence_similarity/tensor.h"

namespace sentence_similarity {

/// The parts of the encoder as one implementation computes them. `hidden`, `x` and `out` are [sentences, tokens, model],
/// allocated by the caller; rows after a sentence's end hold anything finite and are never looked at by a real row.
/// All functions may be called from one thread at a time.
class Implementation {
 public:
  virtual ~Implementation() = default;
  virtual std::string_view name() const = 0;

  /// hidden[b, t] = norm(words[ids[b, t]] + positions[t] + types[0])
  virtual attune::Result<void> embed(const Batch& batch, std::span<float> hidden) = 0;

  /// out = projection(concat_h(softmax_j(q k^T / sqrt(depth)) v)) with q, k and v projected from x and keys j < lengths[b].
  /// `weights` takes the softmax, [sentences, heads, tokens, tokens]; it is empty where nobody asks.
  virtual attune::Result<void> attend(int layer, const Batch& batch, std::span<const float> x, std::span<float> out,
                                      std::span<float> weights) = 0;

  /// hidden = output_norm(contract(gelu(expand(a))) + a) with a = attention_norm(attended + hidden)
  virtual attune::Result<void> finish_layer(int layer, const Batch& batch, std::span<const float> attended, std::span<float> hidden) = 0;

  /// embeddings[b] = the mean of hidden[b, t] over t < lengths[b], divided by its 2-norm; [sentences, model]
  virtual attune::Result<void> pool(const Batch& batch, std::span<const float> hidden, std::span<float> embeddings) = 0;
};

/// What the encoder gives. The vectors after the first are filled where they were asked for.
struct Encoding {
  std::vector<float> embeddings;           ///< [sentences, model]
  std::vector<float> weights;              ///< [sentences, heads, tokens, tokens] of one layer
  std::vector<std::vector<float>> hidden;  ///< [sentences, tokens, model] before each layer and after the last
};

/// What else to keep besides the embeddings.
struct Keep {
  std::optional<int> weights_of_layer;
  bool hidden = false;
};

/// Runs all parts in order. Fails with the first sentence of a part.
attune::Result<Encoding> encode(Implementation& implementation, const Batch& batch, const Keep& keep = {});

}  // namespace sentence_similarity
