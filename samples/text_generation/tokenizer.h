/// Text to token ids and back: byte-level byte-pair encoding with the vocabulary and the merges of a GGUF file.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "samples/text_generation/gguf.h"
#include "samples/text_generation/pieces.h"

namespace text_generation {

using Token = std::int32_t;

class Tokenizer {
 public:
  /// Refuses a file whose tokenizer is not `gpt2` with the pre-tokenizer `smollm`, tokens that are there twice, and merges of what is no token.
  static Result<Tokenizer> of(const Gguf& file);

  /// Special tokens such as <|im_start|> are found first; what stands between them is cut into pieces, and in each piece the two neighbours with the
  /// earliest merge become one until none is left. A byte without a token (of this vocabulary a few control characters) is left out. Refuses text
  /// that is not UTF-8.
  Result<std::vector<Token>> tokens_of(std::string_view text) const;

  /// Refuses text that is not UTF-8, and says where.
  Result<void> check(std::string_view text) const;
  /// Bytes of the longest token.
  std::size_t longest_token() const { return longest_; }

  /// The token's bytes: a token may hold a part of a character.
  std::string_view bytes_of(Token token) const { return texts_[static_cast<std::size_t>(token)]; }
  /// The token is the text of a conversation's mark, such as <|im_end|>.
  bool is_special(Token token) const { return is_special_[static_cast<std::size_t>(token)]; }
  /// What ends a text: end of text, end of a message, and <reponame>, which begins another.
  bool ends_text(Token token) const { return token == 0 || token == 2 || token == 4; }
  std::int64_t vocabulary_size() const { return static_cast<std::int64_t>(texts_.size()); }

 private:
  /// Two neighbours become the token `whole`, those of the least `rank` first.
  struct Merge {
    std::int32_t rank;
    Token whole;
  };
  Result<void> read_tokens(const std::vector<std::string>& tokens, const std::vector<std::int64_t>& types);
  Result<void> read_merges(const std::vector<std::string>& merges);
  void append_piece(std::vector<Token>& tokens, std::string_view piece) const;
  Result<void> append_plain(std::vector<Token>& tokens, std::string_view text) const;
  const Merge* merge_of(Token left, Token right) const;

  static constexpr Token none = -1;
  Pieces pieces_;
  std::vector<std::string> texts_;
  std::vector<bool> is_special_;
  std::size_t longest_ = 1;
  std::vector<Token> special_;  // the longest text first
  std::array<Token, 256> of_byte_{};
  std::unordered_map<std::uint64_t, Merge> merges_;  // by both tokens
};

}  // namespace text_generation
