/// What is mended in Halide's lowering of a stage: the one list, in order.
#pragma once

#include "codegen/halide/bodies/stage.h"
#include "codegen/targets/machine.h"

namespace attune {

/// Adds to the pipeline whose first Func is `stored.func` everything that the stage wants of the end of its lowering, and what every kernel for the
/// CPU, or for devices, needs there. Halide runs added steps after its own, before it leaves vectors and loops to code generation.
void add_late_rewrites(Halide::Pipeline& pipeline, const Stored& stored, Device device);

}  // namespace attune
