/// Loops without the iterations at their ends in which nothing is computed, where a condition says so that Halide's own pass does not look into.
#pragma once

#include <Halide.h>

namespace attune {

/// Of a device's blocks. An iteration whose condition leaves everything out still has a barrier, so that Halide does not take it for one that does nothing:
///   for (k, 0, n) { if (first(b) <= k && k <= last(b)) {..} barrier }  ->  for (k, max(0, first(b)), ..min(n - 1, last(b))) { the same }
/// Of conditions that are no bounds of k (those of tables in memory) nothing is known, and all iterations stay. The condition is one for all threads
/// of a block: it stands around barriers. To be run where barriers are made, while conditions are opaque and divisions are no shifts yet.
Halide::Internal::Stmt with_trimmed_loops(const Halide::Internal::Stmt& s);

/// Of the CPU. Where an opaque condition is one of a range of the loop's variable, the loop takes that range and asks nothing:
///   for (k, 0, n) { if (opaque(k + b < e)) {..} }  ->  for (k, 0, min(n, e - b)) {..}
/// A branch in the innermost loop of a product takes an eighth of its time. To be run when bounds are known.
Halide::Internal::Stmt with_limited_loops(const Halide::Internal::Stmt& s);

}  // namespace attune
