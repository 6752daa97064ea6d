/// The few shapes that the encoder works on, all row-major: the last index is the innermost.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace sentence_similarity {

/// The sizes of all-MiniLM-L6-v2; its file is refused if it has others.
struct Sizes {
  static constexpr std::int64_t vocabulary = 30522;
  static constexpr std::int64_t positions = 512;
  static constexpr std::int64_t model = 384;
  static constexpr std::int64_t hidden = 1536;
  static constexpr std::int64_t layers = 6;
  static constexpr std::int64_t heads = 12;
  static constexpr std::int64_t depth = model / heads;
};

/// A vector's size and index are unsigned, sizes of tensors are not.
constexpr std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// Sentences as token ids, padded to the longest.
struct Batch {
  std::int64_t sentences = 0;
  std::int64_t tokens = 0;            ///< of the longest sentence
  std::vector<std::int32_t> ids;      ///< [sentences, tokens], 0 after a sentence's end
  std::vector<std::int64_t> lengths;  ///< [sentences]

  std::int64_t real_tokens() const {
    std::int64_t sum = 0;
    for (std::int64_t length : lengths) sum += length;
    return sum;
  }
  /// Elements of a tensor [sentences, tokens, model].
  std::size_t hidden_size() const { return at(sentences * tokens * Sizes::model); }
  /// Elements of a tensor [sentences, heads, tokens, tokens].
  std::size_t weights_size() const { return at(sentences * Sizes::heads * tokens * tokens); }
};

/// The sentences' ids, each as long as it is, side by side.
inline Batch batch_of(std::span<const std::vector<std::int32_t>> sentences) {
  Batch batch;
  batch.sentences = static_cast<std::int64_t>(sentences.size());
  for (const auto& ids : sentences) {
    batch.lengths.push_back(static_cast<std::int64_t>(ids.size()));
    batch.tokens = std::max(batch.tokens, batch.lengths.back());
  }
  for (const auto& ids : sentences) {
    batch.ids.insert(batch.ids.end(), ids.begin(), ids.end());
    batch.ids.resize(batch.ids.size() + at(batch.tokens) - ids.size());
  }
  return batch;
}

}  // namespace sentence_similarity
