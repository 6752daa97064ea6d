/// What the machine can do at most, measured: the denominators of every share that Attune prints.
#pragma once

#include <string_view>

namespace attune {

/// Multiplications and additions per second in units of 1e9, of f32 FMAs in the widest vectors that the target has
/// ("zen5", "zen4" and "x86-64-v4": 512 bits, "x86-64-v3": 256, "arm64": 128), on `threads` threads at once.
/// Measured once, for `seconds` (a third of a millisecond at least). The best of many stretches is the peak; they should be as long as what is held
/// against it is timed for: the shorter a stretch, the faster is the fastest clock that it finds. 0 if this machine cannot run the target.
double fma_peak_gflops(std::string_view target, int threads, double seconds);

/// The same of bf16 dot products (vdpbf16ps); 0 where the CPU has none.
double bf16_peak_gflops(std::string_view target, int threads, double seconds);

/// Bytes read per second in units of 1e9, streaming through an array much larger than the caches, on `threads` threads;
/// the best of the machine's own prefetching and of lines asked for ahead. Takes about a second.
double read_bandwidth_gbytes(int threads);

}  // namespace attune
