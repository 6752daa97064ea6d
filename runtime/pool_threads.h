/// The threads of Halide's pool, of which some may be missing.
#pragma once

namespace attune {

inline constexpr int most_pool_threads = 256;  ///< as Halide has it

/// Halide's pool counts on every thread that it asks for, and one that the system refuses, for want of memory or of threads, would end the
/// program. Here such a thread is missing: loops run on the others. This tries to start those that are missing; it costs nothing if none
/// is.
void start_missing_threads();

}  // namespace attune
