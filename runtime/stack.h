/// How much of its thread's stack a call takes.
#pragma once

#include <cstddef>

namespace attune {

/// From Kernel::call, or attune_call, on. Where less than what a kernel takes is left, a call is refused.
inline constexpr std::size_t stack_bytes_of_call = 256 * 1024;

/// What a kernel takes of it: its buffers and context (48 kB), and the functions of its parallel loops in one another, of which the last
/// has arrays of up to 64 kB and the others of up to 4 kB (`codegen/halide/rewrites/stack_budget.h`).
inline constexpr std::size_t stack_bytes_of_kernel = 192 * 1024;

/// The part of it from a parallel loop on. A thread that waits for others to finish its loop runs what it finds meanwhile, iterations of
/// loops around it or of other calls, on top of its stack; one that has less left runs its loop alone and never waits.
inline constexpr std::size_t stack_bytes_of_loop = 128 * 1024;

/// The bytes of the calling thread's stack below the caller; SIZE_MAX where that cannot be known, as on the stack of a coroutine.
std::size_t stack_bytes_left();

}  // namespace attune
