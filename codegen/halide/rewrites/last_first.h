/// Parallel loops that begin at their end.
#pragma once

#include <Halide.h>

#include <string>
#include <vector>

namespace attune {

/// Turns the parallel loops of f's pure definition over these Vars round, as a late step of the pipeline's lowering. Threads take tasks in the order
/// of the loop: where later ones are longer, as with a causal mask, the longest would be taken last, and the other threads would wait for it.
void turn_last_first(Halide::Pipeline& pipeline, const Halide::Func& f, const std::vector<std::string>& vars);

}  // namespace attune
