/// Divisions of negative integers by constants, as Vulkan's kernels have to compute them.
#pragma once

#include <Halide.h>

namespace attune {

/// Whole quotients and remainders of 32 bits by a constant that is no power of 2 are those of the dividend's bits as they are, or all turned where it is
/// negative: of unsigned numbers. The product with a reciprocal that Halide's code for Vulkan makes of signed ones is wrong below some negative numbers:
/// floor(-7 / 3) was 1. To be run behind the last simplification, which would divide signed numbers again.
Halide::Internal::Stmt without_signed_divisions(const Halide::Internal::Stmt& s);

}  // namespace attune
