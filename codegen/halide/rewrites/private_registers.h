/// Functions that a block of threads computes into registers, of which each thread keeps its own elements.
#pragma once

#include <Halide.h>

namespace attune {

/// Halide gives each thread an array of all elements that its block has of such a function, indexed by the number of the thread, which no compiler
/// keeps in registers. Where the index of every access is the same expression of the thread plus a constant, a thread touches its own elements
/// alone: the arrays become as small as these, with constant indices. Halide::CompileError where a thread touches another's elements, or an index is
/// not constant. Barriers at the end of loops, which Halide leaves without a fence, get one for the memory that a block shares.
/// For what Halide's fuse_gpu_thread_loops gives.
Halide::Internal::Stmt with_private_registers(const Halide::Internal::Stmt& s);

}  // namespace attune
