/// Prefetches the memory of results before they are stored.
#pragma once

#include <Halide.h>

namespace attune {

/// Prefetches the cache lines that vectors of `result` are stored to, before the `sums` that these are made of are computed: a store waits for a line
/// that no cache holds. A late step of the pipeline's lowering; `sums` is computed inside the loops over `result`,
/// for several of its vectors at once.
void prefetch_results(Halide::Pipeline& pipeline, const Halide::Func& result, const Halide::Func& sums);

}  // namespace attune
