/// Turns sentences into the token ids of a BERT model with an uncased vocabulary.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/result.h"

namespace sentence_similarity {

/// A sentence as the model sees it, "[CLS]" first and "[SEP]" last.
struct Tokens {
  std::vector<std::int32_t> ids;
  std::vector<std::string> texts;  ///< pieces inside a word begin with "##"
};

/// Words are cut into the longest pieces that the vocabulary has; a word that cannot be cut, or has over 100 characters,
/// is "[UNK]". Text never makes the special tokens: "[SEP]" in a sentence is a bracket, a word and a bracket.
class WordPiece {
 public:
  /// A token a line, its id is the line's number from 0. Refuses a file without the special tokens or with a token twice.
  static attune::Result<WordPiece> open(const std::filesystem::path& vocabulary);

  /// Refuses text that is not UTF-8 and more than `limit` tokens; the caller adds which sentence it is.
  attune::Result<Tokens> tokens_of(std::string_view sentence, std::int64_t limit) const;

  std::int64_t vocabulary_size() const { return static_cast<std::int64_t>(texts_.size()); }

 private:
  void append_pieces(Tokens& tokens, std::string_view word) const;
  void append(Tokens& tokens, std::int32_t id) const;

  std::vector<std::string> texts_;
  std::unordered_map<std::string, std::int32_t> ids_;
  std::int32_t unknown_ = 0, begin_ = 0, end_ = 0;
};

}  // namespace sentence_similarity
