/// Statements without loops that plainly run once.
#pragma once

#include <Halide.h>

namespace attune {

/// The bodies of loops whose extent is 1 by what the names in it stand for, with the first iteration in the place of the loop's variable:
///   let n = (m + 1) - m; for (k, m, n) { f[k] = .. }  ->  let n = (m + 1) - m; f[m] = ..
/// The simplifier does the same, but simplifies the whole body once more for each such loop, and nests of them lie in each other. A name must be
/// defined once in the statement. Loops that prefetching names stay, and those of devices.
Halide::Internal::Stmt without_single_loops(const Halide::Internal::Stmt& s);

}  // namespace attune
