/// Tensors without elements in code for devices.
#pragma once

#include <Halide.h>

namespace attune {

/// Makes code for a device right for any extents from 0 up:
/// - a tensor without elements gets memory of the device as if its extents of 0 were 1: no driver gives memory of no bytes, and a kernel
///   takes the address of each of its tensors, also of those that it reads nothing of;
/// - a grid without blocks, which drivers refuse, is not launched;
/// - Halide's checks of arguments are taken out, as the runtime has checked them: they take an index clamped into a tensor without elements
///   for one that is beyond it. What the device answers is still checked, and so is how much is stored.
/// To be a step of the pipeline's lowering that stands behind those that make loops.
void allow_empty_on_devices(Halide::Pipeline& pipeline);

}  // namespace attune
