/// Asking for the memory of results before they are stored.
#pragma once

#include <Halide.h>

namespace attune {

/// Asks for the cache lines that vectors of `result` are stored to, before `sums` are computed, which these are made of: a store waits for a line that
/// no cache holds. A late step of the pipeline's lowering; `sums` is computed inside the loops over `result`, for several of its vectors at once.
void ask_for_results(Halide::Pipeline& pipeline, const Halide::Func& result, const Halide::Func& sums);

}  // namespace attune
