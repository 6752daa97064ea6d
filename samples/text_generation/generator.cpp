#include "samples/text_generation/generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace text_generation {

namespace {

/// Adds the time that passes until it ends.
class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(seconds) {}
  ~Stopwatch() { seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& seconds_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

Result<void> Generator::check(std::string_view prompt) const {
  if (auto checked = tokenizer_.check(prompt); !checked) return checked;
  // Before a long text is cut into tokens.
  const auto least = static_cast<std::int64_t>((prompt.size() + tokenizer_.longest_token() - 1) / tokenizer_.longest_token());
  if (least > Sizes::context) return Error{fmt::format("has {} tokens at least; the model sees {} at most", least, Sizes::context)};
  return {};
}

Result<void> Generator::operator()(std::string_view prompt, std::int64_t most, const Write& write) {
  const auto tokens = tokenizer_.tokens_of(prompt);
  if (!tokens) return Error{"prompt: " + tokens.error().message};
  if (tokens->empty()) return Error{"prompt: has no token; a text has one at least"};
  unread_.insert(unread_.end(), tokens->begin(), tokens->end());
  for (std::int64_t written = 0;; ++written) {
    Speed& speed = written == 0 ? reading_ : writing_;
    const Stopwatch stopwatch(speed.seconds);
    const auto logits = decoder_.read(unread_);
    if (logits) speed.tokens += std::ssize(unread_);
    unread_.clear();
    if (!logits) return logits.error();
    const bool are_numbers = std::ranges::all_of(*logits, [](float logit) { return std::isfinite(logit); });
    if (!are_numbers) return Error{"model: its logits are no finite numbers; are its weights?"};
    if (written == most) return {};
    const Token token = choose_(*logits);
    if (tokenizer_.ends_text(token)) return {};
    if (!write(tokenizer_.bytes_of(token))) return Error{"standard output: cannot be written"};
    unread_.push_back(token);
    if (written + 1 == most) return {};
  }
}

}  // namespace text_generation
