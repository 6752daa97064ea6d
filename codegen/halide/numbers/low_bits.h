/// The low bits of 64-bit integers on Vulkan.
#pragma once

#include <Halide.h>

namespace attune {

/// x & (2^n - 1) and x mod 2^n, with n of 32 and more, become x - (x >> n << n), with n as a number that the simplifier does not know: it would put the
/// remainder back, of which Halide's generator for Vulkan computes 2^n as an int. Stands before find_opaque_reals_on_host.
void take_low_bits_by_shifts(Halide::Pipeline& pipeline);

}  // namespace attune
