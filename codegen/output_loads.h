/// Loads from outputs that other stages read.
#pragma once

#include <Halide.h>

namespace attune {

/// Halide takes what is loaded from an output for memory of its own, which is aligned to vectors, and may load it with instructions that
/// need it so; a caller's memory is aligned to elements. To be a late step of the pipeline's lowering.
void load_outputs_from_anywhere(Halide::Pipeline& pipeline);

}  // namespace attune
