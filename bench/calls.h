/* What bench/run measures with, for Python's ctypes: loops around calls, so that the time of Python's own calls is not counted. */
#ifndef ATTUNE_BENCH_CALLS_H
#define ATTUNE_BENCH_CALLS_H

#include <stdint.h>

#include "runtime/attune.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Seconds of one call on the average of `repeats`; -1 if one failed, attune_last_error() says why. */
double attune_bench_call_seconds(const struct attune_kernel* kernel, const struct attune_tensor* tensors, int32_t count, int64_t repeats);

/* out = softmax(q k^T / 8) v of one head and depth 64, at most 64 queries and keys, all contiguous, as one writes it by hand for
   AVX-512. Gives -1 where the CPU lacks that or the extents are others, 0 otherwise. */
int32_t attune_bench_hand_attention(const float* q, const float* k, const float* v, float* out, int32_t queries, int32_t keys);

/* Seconds of one call of it on the average of `repeats`. */
double attune_bench_hand_seconds(const float* q, const float* k, const float* v, float* out, int32_t queries, int32_t keys, int64_t repeats);

/* As tools/measure/peak.h says. */
double attune_bench_fma_gflops(const char* target, int32_t threads, double seconds);
double attune_bench_bf16_gflops(const char* target, int32_t threads, double seconds);
double attune_bench_read_gbytes(int32_t threads);

#ifdef __cplusplus
}
#endif
#endif
