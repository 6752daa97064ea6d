#include "samples/text_generation/sampler.h"

#include <algorithm>
#include <cmath>

namespace text_generation {

Token greedy(std::span<const float> logits) { return static_cast<Token>(std::ranges::max_element(logits) - logits.begin()); }

Token Sampler::operator()(std::span<const float> logits) {
  const Token most_likely = greedy(logits);
  if (temperature_ <= 0) return most_likely;
  struct Candidate {
    double weight;
    Token token;
    bool operator>(const Candidate& other) const { return weight != other.weight ? weight > other.weight : token < other.token; }
  };
  constexpr double negligible = 1e-9;  // 49152 of them are far below what a draw can tell
  std::vector<Candidate> candidates;
  double total = 0;
  const auto largest = static_cast<double>(logits[static_cast<std::size_t>(most_likely)]);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double weight = std::exp((static_cast<double>(logits[i]) - largest) / temperature_);
    total += weight;
    if (weight > negligible) candidates.push_back({weight, static_cast<Token>(i)});
  }
  std::ranges::sort(candidates, std::greater{});
  double kept = 0;
  std::size_t count = 0;
  while (count < candidates.size() && kept < top_p_ * total) kept += candidates[count++].weight;
  const double drawn = static_cast<double>(random_() >> 11) * 0x1p-53 * kept;
  double passed = 0;
  for (std::size_t i = 0; i < count; ++i) {
    passed += candidates[i].weight;
    if (drawn < passed) return candidates[i].token;
  }
  return most_likely;
}

}  // namespace text_generation
