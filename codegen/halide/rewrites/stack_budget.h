/// How much of the stack the arrays of a kernel take at most.
#pragma once

#include <Halide.h>

#include <cstdint>

namespace attune {

/// Arrays of a size that is known when the kernel is compiled, up to 16 kB each, lie on the stack; so many that one function of a kernel (a
/// call's, or an iteration's of a parallel loop) has no more bytes of them. A function that runs parallel loops has less, as a thread that
/// waits for such a loop runs other iterations on the same stack. `runtime/stack.h` promises callers what follows from both.
inline constexpr std::int64_t stack_bytes_of_function = 64 * 1024, stack_bytes_around_loops = 4 * 1024;

/// Moves the largest arrays of a function to the heap until the others are no more than that. Those of the tuned schedules all stay on the
/// stack: the frame of none is above 49 kB. To be a late step of the pipeline's lowering.
void keep_stack_budget(Halide::Pipeline& pipeline);
Halide::Internal::Stmt keep_stack_budget(const Halide::Internal::Stmt& s);

}  // namespace attune
