/// The weights of all-MiniLM-L6-v2, as its file stores them.
#pragma once

#include <array>
#include <filesystem>
#include <vector>

#include "runtime/result.h"
#include "samples/sentence_similarity/tensor.h"

namespace sentence_similarity {

/// y = x W^T + b with W [out, in]. For queries and keys the memory of W is also [heads, depth, model], and that of the
/// projection behind the heads [model, heads, value_depth].
struct Linear {
  std::vector<float> weight, bias;
};

/// y = (x - mean(x)) / sqrt(variance(x) + 1e-12) * weight + bias
struct LayerNorm {
  static constexpr float epsilon = 1e-12f;
  std::vector<float> weight, bias;
};

/// attended = attention_norm(projection(attention(x)) + x); y = output_norm(contract(gelu(expand(attended))) + attended)
struct Layer {
  Linear query, key, value, projection;
  LayerNorm attention_norm;
  Linear expand, contract;
  LayerNorm output_norm;
};

struct Model {
  std::vector<float> words;      ///< [vocabulary, model]
  std::vector<float> positions;  ///< [positions, model]
  std::vector<float> types;      ///< [2, model]; a lone sentence is type 0
  LayerNorm embedding_norm;
  std::array<Layer, Sizes::layers> layers;

  /// Reads model.safetensors; refuses a file that is not this model in f32.
  static attune::Result<Model> open(const std::filesystem::path& path);
};

}  // namespace sentence_similarity
