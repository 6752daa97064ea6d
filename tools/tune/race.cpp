#include "tools/tune/race.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace attune {

void Race::add(double ratio) { ratios_.insert(std::ranges::upper_bound(ratios_, ratio), ratio); }

double Race::median() const {
  const std::size_t half = ratios_.size() / 2;
  return ratios_.size() % 2 == 1 ? ratios_[half] : (ratios_[half - 1] + ratios_[half]) / 2;
}

Race::Bounds Race::bounds(double doubt) const {
  // Fewer than k of n ratios lie below the median with the chance sum_{i<k} (n over i) / 2^n; then the k-th smallest is above it.
  const int n = pairs();
  double chance = 1, term = 1, sum = 0;
  for (int i = 0; i < n; ++i) chance /= 2;
  int k = 0;
  while (k < n / 2) {
    sum += term * chance;
    if (sum > doubt) break;
    term = term * (n - k) / (k + 1);
    ++k;
  }
  if (k == 0) return {0, std::numeric_limits<double>::infinity()};
  return {ratios_[static_cast<std::size_t>(k - 1)], ratios_[static_cast<std::size_t>(n - k)]};
}

Verdict Race::verdict() const {
  const int n = pairs();
  const bool is_last = n >= rules_.most_pairs;
  if (n >= 3 && median() > rules_.hopeless) return Verdict::not_faster;
  if (n >= 4 && bounds(rules_.doubt_of_losing).lower > 1 - rules_.least_gain) return Verdict::not_faster;
  // Looking often finds luck: winners are looked for only when the number of pairs has doubled.
  const bool is_look = n >= 8 && (std::has_single_bit(static_cast<unsigned>(n)) || is_last);
  if (is_look && bounds(rules_.doubt_of_winning).upper < 1 - rules_.least_gain) return Verdict::faster;
  return is_last ? Verdict::not_faster : Verdict::undecided;
}

}  // namespace attune
