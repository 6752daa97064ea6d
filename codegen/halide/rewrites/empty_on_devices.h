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
/// The memory of every tensor has a multiple of `granule` elements: see vulkan_granule.
/// To be a step of the pipeline's lowering that stands behind those that make loops.
void allow_empty_on_devices(Halide::Pipeline& pipeline, int granule);

/// Halide 21's memory for Vulkan takes blocks by multiples of what HL_VK_ALLOC_CONFIG says, and parts them. A rest of fewer bytes than the device
/// aligns its buffers to grows to as many, at the cost of the buffer before it, whose last elements then are wherever the driver puts what is out of
/// bounds: results are wrong and nothing is said. With memory in multiples of this many elements there is no such rest: alignments divide 256.
/// The buffers of kernels' numbers, of some ten bytes each, are left: what is taken of a block for each is less than how far the next one begins
/// behind it, so that buffers go on behind a block's end. Ten kernels of one process are enough where blocks are multiples of 1 KiB, as sixteen stages
/// showed; of 1 MiB, which the runtime asks for, it would be thousands.
inline constexpr int vulkan_granule = 1024;

}  // namespace attune
