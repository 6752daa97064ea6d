/// Philox 4x32-10, the counter-based random numbers of dropout (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as
/// easy as 1, 2, 3", SC 2011), over any 32-bit word that wraps: std::uint32_t here, an expression in the lowering.
#pragma once

#include <array>
#include <cstdint>

namespace attune {

/// The upper half of the 64-bit product.
constexpr std::uint32_t multiply_high(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint32_t>((std::uint64_t{a} * b) >> 32);
}

/// Four random words from a counter of four words and a key of two.
template <class Word>
constexpr std::array<Word, 4> philox(std::array<Word, 4> counter, std::array<Word, 2> key) {
  const Word multiplier_0(0xD2511F53u), multiplier_1(0xCD9E8D57u);
  const Word weyl_0(0x9E3779B9u), weyl_1(0xBB67AE85u);
  for (int round = 0; round < 10; ++round) {
    if (round > 0) key = {key[0] + weyl_0, key[1] + weyl_1};
    const Word high_0 = multiply_high(multiplier_0, counter[0]), low_0 = multiplier_0 * counter[0];
    const Word high_1 = multiply_high(multiplier_1, counter[2]), low_1 = multiplier_1 * counter[2];
    counter = {high_1 ^ counter[1] ^ key[0], low_1, high_0 ^ counter[3] ^ key[1], low_0};
  }
  return counter;
}

}  // namespace attune
