/// Roundings that compilers of Vulkan's language must not take away.
#pragma once

#include <Halide.h>

namespace attune {

/// Halide 21 writes strict arithmetic for Vulkan as any other, and a driver's compiler may then take (x + c) - c for x,
/// or a product and a sum for an FMA.
/// A sum or product times a number that only the host knows, 1, can be neither: strict(a + b) -> (a + b) * one. To be a late step of the lowering for
/// Vulkan, before find_opaque_reals_on_host.
void keep_roundings(Halide::Pipeline& pipeline);

}  // namespace attune
