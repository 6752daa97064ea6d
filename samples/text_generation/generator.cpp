#include "samples/text_generation/generator.h"

#include <chrono>

namespace text_generation {

Result<std::span<const float>> Generator::read(std::span<const Token> tokens, Speed& speed) {
  const auto begin = std::chrono::steady_clock::now();
  auto logits = decoder_.read(tokens);
  speed.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (logits) speed.tokens += std::ssize(tokens);
  return logits;
}

Result<void> Generator::operator()(std::string_view prompt, std::int64_t most, const Write& write) {
  const auto tokens = tokenizer_.tokens_of(prompt);
  if (!tokens) return Error{"prompt: " + tokens.error().message};
  if (tokens->empty()) return Error{"prompt: has no token; a text has one at least"};
  unread_.insert(unread_.end(), tokens->begin(), tokens->end());
  auto logits = read(unread_, reading_);
  unread_.clear();
  if (!logits) return logits.error();
  for (std::int64_t i = 0; i < most; ++i) {
    const Token token = choose_(*logits);
    if (tokenizer_.ends_text(token)) return {};
    write(tokenizer_.bytes_of(token));
    if (i + 1 == most) {
      unread_.push_back(token);
      return {};
    }
    logits = read(std::span(&token, 1), writing_);
    if (!logits) return logits.error();
  }
  return {};
}

}  // namespace text_generation
