/// The weights of SmolLM2-135M as kernels take them.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/tensor.h"
#include "samples/text_generation/gguf.h"

namespace text_generation {

/// The sizes of SmolLM2-135M, for which its kernels are compiled; a file is refused if it has others.
struct Sizes {
  static constexpr std::int64_t vocabulary = 49152;
  static constexpr std::int64_t model = 576;
  static constexpr std::int64_t hidden = 1536;
  static constexpr std::int64_t layers = 30;
  static constexpr std::int64_t kv_heads = 3;
  static constexpr std::int64_t group = 3;  ///< heads of queries for each of keys
  static constexpr std::int64_t depth = 64;
  static constexpr std::int64_t context = 8192;
  static constexpr std::int64_t lane = 64;  ///< columns of a weight that lie side by side
  static constexpr double epsilon = 1e-5, base = 100000;
};

/// A vector's size and index are unsigned, sizes of tensors are not.
constexpr std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// How weights are kept: as reals of 32 or 16 bits, or packed in the file's blocks.
enum class WeightForm { f32, bf16, packed };
inline constexpr std::array<std::string_view, 3> weight_form_names = {"f32", "bf16", "packed"};

/// The tensors of a weight in the order in which kernels take them: the whole, or scales, minima (of Q4_1) and integers.
struct Weight {
  std::vector<attune::OwnedTensor> parts;

  std::int64_t bytes() const;
};

struct Layer {
  std::vector<float> attention_norm, feed_norm;               ///< [model]
  Weight query, key, value, projection, gate, up, down;
};

/// Weights with the columns of a weight [in, out] in groups of `lane`: [out / lane, in, lane].
struct Model {
  WeightForm form = WeightForm::f32;
  Weight embedding;
  std::vector<Layer> layers;
  std::vector<float> norm;

  /// Refuses a file that is not SmolLM2-135M, and, packed, weights that are not Q4_1, or Q8_0 for the embedding.
  static Result<Model> of(const Gguf& file, WeightForm form);

  /// Of all weights that a token reads.
  std::int64_t bytes() const;
};

}  // namespace text_generation
