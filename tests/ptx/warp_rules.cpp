/// What the lanes of a warp compute together, by the manual of PTX (ISA 7.0: "Warp Level Matrix Multiply-Accumulate Instructions", "shfl.sync").
#include <bit>
#include <cmath>

#include "runtime/bfloat16.h"
#include "runtime/float16.h"
#include "tests/ptx/module.h"

namespace attune::ptx {
namespace {

template <class T>
float half_of(std::uint64_t bits, std::size_t half) {
  T value;
  value.bits = static_cast<std::uint16_t>(bits >> 16 * half);
  return static_cast<float>(value);
}

/// c and d of 16 x 8 elements: with lane = 4 g + t and register r, [g + 8 (r / 2)][2 t + r % 2].
constexpr std::size_t sum_rows = 16, sum_columns = 8;
template <class Element, class Each>
void each_sum(Element (&sums)[sum_rows][sum_columns], const Each& each) {
  for (std::size_t lane = 0; lane < warp_size; ++lane)
    for (std::size_t r = 0; r < 4; ++r) each(sums[lane / 4 + 8 * (r / 2)][2 * (lane % 4) + r % 2], r, lane);
}
float real_of(std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }

/// d = a * b + c of 16 x 16 and 16 x 8 elements of T, summed in f32. With lane = 4 g + t, register r and half h of it:
///   a[g + 8 (r % 2)][2 t + h + 8 (r / 2)], b[2 t + h + 8 r][g].
template <class T>
void multiply_16x8x16(const Lanes* const* operands, Lanes* results) {
  float a[sum_rows][16], b[16][sum_columns], sums[sum_rows][sum_columns];
  for (std::size_t lane = 0; lane < warp_size; ++lane)
    for (std::size_t half = 0; half < 2; ++half) {
      const std::size_t g = lane / 4, t = lane % 4;
      for (std::size_t r = 0; r < 4; ++r) a[g + 8 * (r % 2)][2 * t + half + 8 * (r / 2)] = half_of<T>((*operands[r])[lane], half);
      for (std::size_t r = 0; r < 2; ++r) b[2 * t + half + 8 * r][g] = half_of<T>((*operands[4 + r])[lane], half);
    }
  each_sum(sums, [&](float& sum, std::size_t r, std::size_t lane) { sum = real_of((*operands[6 + r])[lane]); });
  for (std::size_t row = 0; row < sum_rows; ++row)
    for (std::size_t k = 0; k < 16; ++k)
      for (std::size_t column = 0; column < sum_columns; ++column) sums[row][column] += a[row][k] * b[k][column];
  each_sum(sums, [&](float sum, std::size_t r, std::size_t lane) { results[r][lane] = std::bit_cast<std::uint32_t>(sum); });
}

float tf32_of(std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) & 0xffffe000U); }

/// The f32 beside a number that is no larger. The manual leaves rounding open; tensor cores truncate (Fasi et al. 2021, "Numerical behavior of NVIDIA
/// tensor cores").
float towards_zero(double exact) {
  const auto nearest = static_cast<float>(exact);
  const bool is_larger = std::abs(static_cast<double>(nearest)) > std::abs(exact);  // not of NaN, nor of an infinite number
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(nearest) - std::uint32_t{is_larger});  // numbers of one sign count up as their bits do
}

/// d = a * b + c of 16 x 8 and 8 x 8 elements of TF32, of whose bits the low 13 do not count; each sum of 8 products and c is rounded once. With
/// lane = 4 g + t and register r: a[g + 8 (r % 2)][t + 4 (r / 2)], b[t + 4 r][g].
void multiply_16x8x8(const Lanes* const* operands, Lanes* results) {
  double a[sum_rows][8], b[8][sum_columns], sums[sum_rows][sum_columns];
  for (std::size_t lane = 0; lane < warp_size; ++lane) {
    const std::size_t g = lane / 4, t = lane % 4;
    for (std::size_t r = 0; r < 4; ++r) a[g + 8 * (r % 2)][t + 4 * (r / 2)] = static_cast<double>(tf32_of((*operands[r])[lane]));
    for (std::size_t r = 0; r < 2; ++r) b[t + 4 * r][g] = static_cast<double>(tf32_of((*operands[4 + r])[lane]));
  }
  each_sum(sums, [&](double& sum, std::size_t r, std::size_t lane) { sum = static_cast<double>(real_of((*operands[6 + r])[lane])); });
  for (std::size_t row = 0; row < sum_rows; ++row)
    for (std::size_t k = 0; k < 8; ++k)
      for (std::size_t column = 0; column < sum_columns; ++column) sums[row][column] += a[row][k] * b[k][column];
  each_sum(sums, [&](double sum, std::size_t r, std::size_t lane) { results[r][lane] = std::bit_cast<std::uint32_t>(towards_zero(sum)); });
}

/// A lane's first operand is another's, which the second names; the third holds the last lane of a segment and the bits that say the segment. A lane
/// that would read beyond its segment keeps its own.
template <auto source>
void shuffle(const Lanes* const* operands, Lanes* results) {
  for (std::uint32_t lane = 0; lane < warp_size; ++lane) {
    const auto by = static_cast<std::uint32_t>((*operands[1])[lane]) & 31, last = static_cast<std::uint32_t>((*operands[2])[lane]) & 31;
    const auto segment = static_cast<std::uint32_t>((*operands[2])[lane] >> 8) & 31;
    const std::uint32_t least = lane & segment, most = least | (last & ~segment), from = source(lane, by, least, segment);
    results[0][lane] = (*operands[0])[from <= most ? from : lane];
  }
}
constexpr auto butterfly = [](std::uint32_t lane, std::uint32_t by, std::uint32_t, std::uint32_t) { return lane ^ by; };
constexpr auto downwards = [](std::uint32_t lane, std::uint32_t by, std::uint32_t, std::uint32_t) { return lane + by; };
constexpr auto indexed = [](std::uint32_t, std::uint32_t by, std::uint32_t least, std::uint32_t segment) { return least | (by & ~segment); };

/// Whether the first operand holds in any of the lanes that vote; that of others is 0.
void vote_any(const Lanes* const* operands, Lanes* results) {
  std::uint64_t any = 0;
  for (const std::uint64_t holds : *operands[0]) any |= holds;
  results[0].fill(any);
}

/// Lanes are in lockstep: that the others are there is all it asks. What it orders is for shared memory to know.
void meet(const Lanes* const*, Lanes*) {}

constexpr WarpRule warp_rules[] = {
    {"bar.warp.sync", 1, 0, 0, meet},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 10, 4, -1, multiply_16x8x16<bfloat16>},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 10, 4, -1, multiply_16x8x16<float16>},
    {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 10, 4, -1, multiply_16x8x8},
    {"shfl.sync.bfly.b32", 4, 1, 3, shuffle<butterfly>},
    {"shfl.sync.down.b32", 4, 1, 3, shuffle<downwards>},
    {"shfl.sync.idx.b32", 4, 1, 3, shuffle<indexed>},
    {"vote.sync.any.pred", 2, 1, 1, vote_any},
};

}  // namespace

const WarpRule* find_warp_rule(std::string_view name) {
  for (const WarpRule& rule : warp_rules)
    if (rule.name == name) return &rule;
  return nullptr;
}

}  // namespace attune::ptx
