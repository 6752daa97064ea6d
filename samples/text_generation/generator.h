/// Text from text: a prompt is read, and what follows it is written token by token.
#pragma once

#include <functional>
#include <string_view>

#include "samples/text_generation/decoder.h"
#include "samples/text_generation/sampler.h"

namespace text_generation {

/// How many tokens took how long.
struct Speed {
  std::int64_t tokens = 0;
  double seconds = 0;

  double tokens_per_second() const { return seconds > 0 ? static_cast<double>(tokens) / seconds : 0; }
};

class Generator {
 public:
  /// Whether the bytes are written: a text ends where they are not.
  using Write = std::function<bool(std::string_view bytes)>;
  using Choose = std::function<Token(std::span<const float> logits)>;

  /// Of a tokenizer that outlives it.
  Generator(const Tokenizer& tokenizer, Decoder decoder, Choose choose)
      : tokenizer_(tokenizer), decoder_(std::move(decoder)), choose_(std::move(choose)) {}

  /// What is wrong with a prompt, which may be one of several parts: it is not UTF-8, or takes more tokens than there are.
  Result<void> check(std::string_view prompt) const;
  /// Reads the prompt behind what was read and written before, and writes tokens until the text ends, `most` at most. A token may hold a part of a
  /// character. Refuses a prompt that is not UTF-8 or empty, and logits that are no numbers; ends where the context is full.
  Result<void> operator()(std::string_view prompt, std::int64_t most, const Write& write);

  /// Of prompts, until the first token behind each stands there; of the tokens after that.
  const Speed& reading() const { return reading_; }
  const Speed& writing() const { return writing_; }

 private:
  const Tokenizer& tokenizer_;
  Decoder decoder_;
  Choose choose_;
  std::vector<Token> unread_;  // written, but not yet read
  Speed reading_, writing_;
};

}  // namespace text_generation
