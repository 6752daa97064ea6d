#include "tools/measure/peak.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <thread>
#include <vector>

#include "runtime/tile_state.h"

#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <arm_neon.h>
#endif

namespace attune {
namespace {

// Twelve independent chains: the latency of an FMA times the number of units is at most ten on the CPUs that we know.
constexpr int chains = 12;
constexpr std::int64_t rounds = 200'000;  // of a run: a third of a millisecond to one

/// Keeps a value alive without storing it.
template <class V>
inline void keep(const V& v) {
#if defined(__x86_64__)
  asm volatile("" : : "v"(v));
#else
  asm volatile("" : : "w"(v));
#endif
}

#if defined(__x86_64__)
__attribute__((target("avx512f"), optimize("unroll-loops"))) void run_512() {
  __m512 a[chains];
  for (int i = 0; i < chains; ++i) a[i] = _mm512_set1_ps(static_cast<float>(i));
  const __m512 m = _mm512_set1_ps(0.999f), c = _mm512_set1_ps(0.001f);
  for (std::int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (int i = 0; i < chains; ++i) a[i] = _mm512_fmadd_ps(a[i], m, c);
  }
  for (const __m512& v : a) keep(v);
}

__attribute__((target("avx2,fma"))) void run_256() {
  __m256 a[chains];
  for (int i = 0; i < chains; ++i) a[i] = _mm256_set1_ps(static_cast<float>(i));
  const __m256 m = _mm256_set1_ps(0.999f), c = _mm256_set1_ps(0.001f);
  for (std::int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (int i = 0; i < chains; ++i) a[i] = _mm256_fmadd_ps(a[i], m, c);
  }
  for (const __m256& v : a) keep(v);
}

__attribute__((target("avx512f,avx512bf16"))) void run_bf16() {
  __m512 a[chains];
  for (int i = 0; i < chains; ++i) a[i] = _mm512_set1_ps(static_cast<float>(i));
  const auto m = reinterpret_cast<__m512bh>(_mm512_set1_epi16(0x3f80)), c = reinterpret_cast<__m512bh>(_mm512_set1_epi16(0x3a00));
  for (std::int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (int i = 0; i < chains; ++i) a[i] = _mm512_dpbf16_ps(a[i], m, c);
  }
  for (const __m512& v : a) keep(v);
}

/// Six tiles of sums, each waiting for its own of six products before: a product takes 16 cycles, and its sums are there after 52.
constexpr std::int64_t tile_rounds = rounds / 20, tiles_of_sums = 6, flops_of_tile = 2 * 16 * 16 * 32;

/// As _tile_loadconfig reads it (Intel's manual, volume 1, 18.3): of every tile 16 rows of 64 bytes.
struct alignas(64) TileConfig {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

__attribute__((target("amx-tile,amx-bf16"))) void run_tiles() {
  const TileConfig config;
  asm volatile("" : : "r"(&config) : "memory");  // GCC takes the instruction for one that reads eight bytes
  _tile_loadconfig(&config);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  _tile_zero(5);
  _tile_zero(6);
  _tile_zero(7);
  for (std::int64_t r = 0; r < tile_rounds; ++r) {
    _tile_dpbf16ps(0, 6, 7);
    _tile_dpbf16ps(1, 6, 7);
    _tile_dpbf16ps(2, 6, 7);
    _tile_dpbf16ps(3, 6, 7);
    _tile_dpbf16ps(4, 6, 7);
    _tile_dpbf16ps(5, 6, 7);
  }
  _tile_release();
}
#else
void run_128() {
  float32x4_t a[chains];
  for (int i = 0; i < chains; ++i) a[i] = vdupq_n_f32(static_cast<float>(i));
  const float32x4_t m = vdupq_n_f32(0.999f), c = vdupq_n_f32(0.001f);
  for (std::int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (int i = 0; i < chains; ++i) a[i] = vfmaq_f32(c, a[i], m);
  }
  for (const float32x4_t& v : a) keep(v);
}
#endif

/// What `work(thread)` did on all threads at once, by its own count, per second in units of 1e9.
template <class Work>
double rate_of(int threads, Work work) {
  std::vector<double> done(static_cast<std::size_t>(threads));
  const auto start = std::chrono::steady_clock::now();
  const auto on_thread = [&](std::size_t thread) { done[thread] = work(thread); };
  std::vector<std::thread> others;
  for (std::size_t t = 1; t < done.size(); ++t) others.emplace_back(on_thread, t);
  on_thread(0);
  for (std::thread& other : others) other.join();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return std::accumulate(done.begin(), done.end(), 0.) / seconds / 1e9;
}

/// `amount` is what a run does.
double arithmetic_rate(int threads, double seconds, double amount, void (*run)()) {
  using Clock = std::chrono::steady_clock;
  return rate_of(threads, [&](std::size_t) {
    const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    double done = 0;
    do {
      run();
      done += amount;
    } while (Clock::now() < end);
    return done;
  });
}

#if defined(__x86_64__)
/// Of words with a space between them.
bool has(std::string_view features, std::string_view feature) {
  while (!features.empty()) {
    const std::size_t end = std::min(features.find(' '), features.size());
    if (features.substr(0, end) == feature) return true;
    features.remove_prefix(std::min(end + 1, features.size()));
  }
  return false;
}
#endif

}  // namespace

double fma_peak_gflops(std::string_view features, int threads, double seconds) {
  const auto rate = [&](int lanes, void (*run)()) {
    return arithmetic_rate(threads, seconds, static_cast<double>(rounds) * chains * lanes * 2, run);
  };
#if defined(__x86_64__)
  if (has(features, "avx512f")) return __builtin_cpu_supports("avx512f") ? rate(16, run_512) : 0;
  if (has(features, "fma")) return __builtin_cpu_supports("fma") ? rate(8, run_256) : 0;
  return 0;
#else
  static_cast<void>(features);
  return rate(4, run_128);
#endif
}

double bf16_peak_gflops(std::string_view features, int threads, double seconds) {
#if defined(__x86_64__)
  if (has(features, "amx-bf16") && __builtin_cpu_supports("amx-bf16") && is_given_tiles())
    return arithmetic_rate(threads, seconds, static_cast<double>(tile_rounds * tiles_of_sums * flops_of_tile), run_tiles);
  if (has(features, "avx512bf16") && __builtin_cpu_supports("avx512bf16"))
    return arithmetic_rate(threads, seconds, static_cast<double>(rounds) * chains * 64, run_bf16);
#endif
  static_cast<void>(features);
  static_cast<void>(threads);
  static_cast<void>(seconds);
  return 0;
}

double read_bandwidth_gbytes(int threads) {
  const std::size_t count = std::size_t{32} << 20;  // 256 MiB a thread, above any cache here
  std::vector<std::vector<std::uint64_t>> arrays(static_cast<std::size_t>(threads), std::vector<std::uint64_t>(count, 1));
  const auto rate = [&](auto ask) {
    const auto read = [&](std::size_t thread) {
      const auto& array = arrays[thread];
      std::uint64_t sums[8] = {};
      for (std::size_t i = 0; i < count; i += 8) {
        ask(array.data() + i);
        for (std::size_t k = 0; k < 8; ++k) sums[k] += array[i + k];
      }
      for (const std::uint64_t sum : sums) asm volatile("" : : "r"(sum));
      return static_cast<double>(count) * 8;
    };
    double best = 0;
    for (int pass = 0; pass < 20; ++pass) best = std::max(best, rate_of(threads, read));
    return best;
  };
  // With the machine's prefetchers alone, and with lines asked for 8 and 32 kB before they are read: 33, 42 and 41 GB/s on one core of Zen 5.
  const double alone = rate([](const std::uint64_t*) {}), near = rate([](const std::uint64_t* p) { __builtin_prefetch(p + 1024, 0, 0); });
  return std::max({alone, near, rate([](const std::uint64_t* p) { __builtin_prefetch(p + 4096, 0, 0); })});
}

}  // namespace attune
