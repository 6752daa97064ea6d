/// Random: what a trial draws from, the same on every machine for the same seed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <ranges>

namespace attune {

class Random {
 public:
  explicit Random(std::uint64_t seed) : numbers_(seed) {}

  std::uint64_t number() { return numbers_(); }
  /// 0 to limit - 1; limit is not 0.
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(numbers_() % limit); }
  bool one_in(std::size_t count) { return below(count) == 0; }
  template <std::ranges::random_access_range R>
  auto one_of(const R& range) {
    return range[below(std::ranges::size(range))];
  }

 private:
  std::mt19937_64 numbers_;
};

}  // namespace attune
