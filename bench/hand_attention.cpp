// Attention of one small head by hand: for the row of small extents in bench/goals.toml: what a kernel for any extents is compared with.
#include "bench/calls.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstdint>
#include <initializer_list>

#pragma GCC push_options
#pragma GCC target("avx512f")
namespace {

constexpr int depth = 64, lanes = 16, vectors = depth / lanes, most = 64, rows = 4;

/// exp(x) for x <= 0, by 2^f with f in [-0.5, 0.5]: relative error 1.1e-7; 0 below 2^-127.
inline __m512 exp_of(__m512 x) {
  const __m512 y = _mm512_max_ps(_mm512_mul_ps(x, _mm512_set1_ps(1.44269504f)), _mm512_set1_ps(-127.f));
  const __m512 whole = _mm512_roundscale_ps(y, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC), f = _mm512_sub_ps(y, whole);
  __m512 p = _mm512_set1_ps(0.001326472731f);
  for (float c : {0.009671512991f, 0.05550733581f, 0.2402224243f, 0.6931470037f, 1.f}) p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(c));
  return _mm512_scalef_ps(p, whole);
}

/// Keys with a vector of keys for each d: [depth, groups of 16 keys]; beyond the last key zeros.
inline void transpose_keys(const float* k, int keys, float* panel) {
  const __m512i step = _mm512_mullo_epi32(_mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), _mm512_set1_epi32(depth));
  for (int j = 0; j < keys; j += lanes) {
    const auto there = static_cast<__mmask16>(keys - j >= lanes ? 0xffff : (1 << (keys - j)) - 1);
    for (int d = 0; d < depth; ++d)
      _mm512_store_ps(panel + d * most + j, _mm512_mask_i32gather_ps(_mm512_setzero_ps(), there, step, k + j * depth + d, 4));
  }
}

/// weights[r, j] = exp(score - maximum), sums[r] = their sum, of `R` rows of q against `G` groups of 16 keys.
template <int R, int G>
inline void weigh(const float* q, const float* panel, int keys, float* weights, float* sums) {
  __m512 s[R][G];
  for (int r = 0; r < R; ++r)
    for (int g = 0; g < G; ++g) s[r][g] = _mm512_setzero_ps();
  for (int d = 0; d < depth; ++d)
    for (int g = 0; g < G; ++g) {
      const __m512 key = _mm512_load_ps(panel + d * most + g * lanes);
      for (int r = 0; r < R; ++r) s[r][g] = _mm512_fmadd_ps(_mm512_set1_ps(q[r * depth + d]), key, s[r][g]);
    }
  const int last = keys - (G - 1) * lanes;
  const auto there = static_cast<__mmask16>(last >= lanes ? 0xffff : (1 << last) - 1);
  for (int r = 0; r < R; ++r) {
    for (int g = 0; g < G; ++g) s[r][g] = _mm512_mul_ps(s[r][g], _mm512_set1_ps(0.125f));
    s[r][G - 1] = _mm512_mask_blend_ps(there, _mm512_set1_ps(-1e30f), s[r][G - 1]);
    __m512 high = s[r][0];
    for (int g = 1; g < G; ++g) high = _mm512_max_ps(high, s[r][g]);
    const __m512 maximum = _mm512_set1_ps(_mm512_reduce_max_ps(high));
    __m512 sum = _mm512_setzero_ps();
    for (int g = 0; g < G; ++g) {
      const __m512 weight = exp_of(_mm512_sub_ps(s[r][g], maximum));
      _mm512_store_ps(weights + r * most + g * lanes, weight);
      sum = _mm512_add_ps(sum, weight);
    }
    sums[r] = _mm512_reduce_add_ps(sum);
  }
}

/// out[r, d] = sum_j weights[r, j] v[j, d] / sums[r].
template <int R>
inline void gather_values(const float* weights, const float* sums, const float* v, int keys, float* out) {
  __m512 o[R][vectors];
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < vectors; ++c) o[r][c] = _mm512_setzero_ps();
  for (int j = 0; j < keys; ++j)
    for (int r = 0; r < R; ++r)
      for (int c = 0; c < vectors; ++c)
        o[r][c] = _mm512_fmadd_ps(_mm512_set1_ps(weights[r * most + j]), _mm512_loadu_ps(v + j * depth + c * lanes), o[r][c]);
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < vectors; ++c) _mm512_storeu_ps(out + r * depth + c * lanes, _mm512_mul_ps(o[r][c], _mm512_set1_ps(1 / sums[r])));
}

template <int R, int G>
inline void attend_rows(const float* q, const float* panel, const float* v, float* out, int keys) {
  alignas(64) float weights[R * most], sums[R];
  weigh<R, G>(q, panel, keys, weights, sums);
  gather_values<R>(weights, sums, v, keys, out);
}

template <int G>
void attend(const float* q, const float* k, const float* v, float* out, int queries, int keys) {
  alignas(64) float panel[depth * most];
  transpose_keys(k, keys, panel);
  int i = 0;
  for (; i + rows <= queries; i += rows) attend_rows<rows, G>(q + i * depth, panel, v, out + i * depth, keys);
  for (; i < queries; ++i) attend_rows<1, G>(q + i * depth, panel, v, out + i * depth, keys);
}

}  // namespace
#pragma GCC pop_options

std::int32_t attune_bench_hand_attention(const float* q, const float* k, const float* v, float* out, std::int32_t queries, std::int32_t keys) {
  if (!__builtin_cpu_supports("avx512f") || queries < 1 || queries > most || keys < 1 || keys > most) return -1;
  switch ((keys + lanes - 1) / lanes) {
    case 1: attend<1>(q, k, v, out, queries, keys); break;
    case 2: attend<2>(q, k, v, out, queries, keys); break;
    case 3: attend<3>(q, k, v, out, queries, keys); break;
    default: attend<4>(q, k, v, out, queries, keys); break;
  }
  return 0;
}

#else

std::int32_t attune_bench_hand_attention(const float*, const float*, const float*, float*, std::int32_t, std::int32_t) { return -1; }

#endif
