// Calls the kernel of near_attention.h and compares it with the formula in plain loops.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "near_attention.hpp"

namespace {

constexpr std::int64_t heads = 3, tokens = 37, depth = 16, window = 4;

std::vector<float> numbers(unsigned seed) {
  std::vector<float> values(heads * tokens * depth);
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(seed >> 8) / (1 << 23) - 1;
  }
  return values;
}

/// out[i, :] = sum_j softmax_j(q[i, :] . k[j, :] / sqrt(depth)) v[j, :] over the keys 0 <= i - j < window of one head.
void expect(const float* q, const float* k, const float* v, std::int64_t i, double* out) {
  double sum = 0;
  std::fill_n(out, depth, 0.0);
  for (std::int64_t j = std::max<std::int64_t>(0, i - window + 1); j <= i; ++j) {
    double score = 0;
    for (std::int64_t d = 0; d < depth; ++d) score += double{q[i * depth + d]} * k[j * depth + d];
    const double weight = std::exp(score / std::sqrt(double{depth}));
    sum += weight;
    for (std::int64_t d = 0; d < depth; ++d) out[d] += weight * v[j * depth + d];
  }
  for (std::int64_t d = 0; d < depth; ++d) out[d] /= sum;
}

}  // namespace

int main() {
  const std::vector<float> q = numbers(1), k = numbers(2), v = numbers(3);
  std::vector<float> out(q.size());
  const auto tensor = [](auto& values) { return attune::Tensor(values.data(), {heads, tokens, depth}); };
  if (const auto done = attune::kernels::near_attention(tensor(q), tensor(k), tensor(v), tensor(out)); !done) {
    std::fprintf(stderr, "%s\n", done.error().message.c_str());
    return 1;
  }
  double worst = 0;
  for (std::int64_t row = 0; row < heads * tokens; ++row) {
    const std::int64_t head = row / tokens * tokens * depth;
    double expected[depth];
    expect(&q[head], &k[head], &v[head], row % tokens, expected);
    for (std::int64_t d = 0; d < depth; ++d) worst = std::max(worst, std::abs(expected[d] - out[row * depth + d]));
  }
  // One rounding of scores below 16 / 4 and of values below 1: 1e-5 + 4 * 2^-24 * 4.
  const double allowed = 1e-5 + 16 * std::ldexp(1, -24);
  std::printf("near_attention: the largest difference is %.1e, allowed %.1e\n", worst, allowed);
  return worst <= allowed ? 0 : 1;
}
