/// What the machine can do at most, measured: the denominators of every share that Attune prints.
#pragma once

#include <string_view>

namespace attune {

/// Multiplications and additions per second in units of 1e9, of f32 FMAs in the widest vectors that code for these features has, on `threads` threads
/// at once. `features` are those of a target, in GCC's spelling ("avx2 fma avx512f"): with avx512f 512 bits, with fma 256, NEON's 128 on Arm.
/// Measured once, for `seconds` (a third of a millisecond at least). The best of many stretches is the peak; they should be as long as what is held
/// against it is timed for: the shorter a stretch, the faster is the fastest clock that it finds. 0 if this machine has not
/// got what they say.
double fma_peak_gflops(std::string_view features, int threads, double seconds);

/// The same of bf16: of products in tile registers (tdpbf16ps, with amx-bf16), else of dot products (vdpbf16ps, with avx512bf16); 0 where the features or the CPU have none.
double bf16_peak_gflops(std::string_view features, int threads, double seconds);

/// Bytes read per second in units of 1e9, streaming through an array much larger than the caches, on `threads` threads;
/// the best of the machine's own prefetching and of lines asked for ahead. Takes about a second.
double read_bandwidth_gbytes(int threads);

}  // namespace attune
