#include "bench/calls.h"

#include <algorithm>
#include <chrono>
#include <string_view>

#include "codegen/targets/targets.h"
#include "tools/measure/peak.h"

namespace {

template <class Call>
double seconds_of(std::int64_t repeats, Call call) {
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < repeats; ++i)
    if (call() != 0) return -1;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / static_cast<double>(repeats);
}

/// Of the target; none if there is no such target.
std::string_view features_of(std::string_view target) {
  const auto row = std::ranges::find(attune::targets(), target, &attune::TargetInfo::name);
  return row == attune::targets().end() ? std::string_view() : row->features;
}

}  // namespace

double attune_bench_call_seconds(const attune_kernel* kernel, const attune_tensor* tensors, std::int32_t count, std::int64_t repeats) {
  return seconds_of(repeats, [&] { return attune_call(kernel, tensors, count); });
}

double attune_bench_hand_seconds(const float* q, const float* k, const float* v, float* out, std::int32_t queries, std::int32_t keys,
                                 std::int64_t repeats) {
  return seconds_of(repeats, [&] { return attune_bench_hand_attention(q, k, v, out, queries, keys); });
}

double attune_bench_fma_gflops(const char* target, std::int32_t threads, double seconds) {
  return attune::fma_peak_gflops(features_of(target), threads, seconds);
}
double attune_bench_bf16_gflops(const char* target, std::int32_t threads, double seconds) {
  return attune::bf16_peak_gflops(features_of(target), threads, seconds);
}
double attune_bench_read_gbytes(std::int32_t threads) { return attune::read_bandwidth_gbytes(threads); }
