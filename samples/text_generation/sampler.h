/// Chooses the next token by the logits.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "samples/text_generation/tokenizer.h"

namespace text_generation {

/// The most likely token; of equals the first.
Token greedy(std::span<const float> logits);

/// Draws tokens by softmax(logits / temperature), of which the most likely are kept until their weights add up to `top_p`. The same seed draws the
/// same tokens of the same logits on every machine.
class Sampler {
 public:
  Sampler(double temperature, double top_p, std::uint64_t seed) : temperature_(temperature), top_p_(top_p), random_(seed) {}

  /// At temperature 0 the most likely.
  Token operator()(std::span<const float> logits);

 private:
  double temperature_, top_p_;
  std::mt19937_64 random_;
};

}  // namespace text_generation
