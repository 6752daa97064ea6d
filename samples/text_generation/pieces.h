/// Cuts text into the pieces that byte-pair encoding works on, each alone.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "runtime/result.h"

namespace text_generation {

using attune::Error;
using attune::Result;

/// A regular expression for UTF-8 text, by the library PCRE2: \p{L}, \p{N} and \p{Z} are those of Unicode.
class Pattern {
 public:
  /// `expression` is the program's own: a malformed one ends the program.
  explicit Pattern(std::string_view expression);

  /// The text cut before and after each match: matches and what stands between them, in order. Refuses what is not UTF-8.
  Result<std::vector<std::string_view>> cut(std::string_view text) const;

 private:
  struct Free {
    void operator()(void* code) const;
  };
  std::unique_ptr<void, Free> code_;
};

/// The pre-tokenizer `smollm`: every digit is a piece of its own, and the stretches between digits are cut as GPT-2 cuts a text.
class Pieces {
 public:
  /// The pieces in their order, which together are the text. Refuses what is not UTF-8.
  Result<std::vector<std::string_view>> of(std::string_view text) const;

 private:
  Pattern digit_{R"(\p{N})"};
  // \s with its members named: PCRE2's has U+180E, which is no space since Unicode 6.3.
  Pattern gpt2_{R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{Z}\x09-\x0d\x{85}\p{L}\p{N}]+|[\p{Z}\x09-\x0d\x{85}]+(?![^\p{Z}\x09-\x0d\x{85}])|[\p{Z}\x09-\x0d\x{85}]+)"};
};

}  // namespace text_generation
