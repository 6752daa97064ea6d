/// f16 as kernels for devices hold it: its bits, in an UInt(16). Halide 21's own type is wrong there, and OpenCL has it by an extension alone.
#pragma once

#include <Halide.h>

namespace attune {

/// The f32 that an f16 of these bits is, exactly.
Halide::Expr f16_value(const Halide::Expr& bits);

/// The bits of the nearest f16, ties to even; what is beyond 65504 by half a step is infinite, NaN stays NaN.
Halide::Expr f16_bits(const Halide::Expr& value);

}  // namespace attune
