/// Literals that LLVM must not know.
#pragma once

#include <Halide.h>

namespace attune {

/// `value`, as a scalar that no compiler can fold. Halide tells LLVM that the operands of its plain arithmetic are finite: where one is a literal
/// infinity or NaN LLVM takes the result for undefined, and leaves out what is made of it, stores included. It also multiplies literals with
/// one another, so a very large or very small one can become infinite.
Halide::Expr opaque_real(float value);

/// Whether a real literal must be opaque: infinities, NaN, and what three factors could make infinite.
bool needs_opaque_real(float value);

/// Lets the host find opaque reals and hand them to kernels on devices, whose compilers do not know the call that they are. To be a late step of
/// the lowering of pipelines for devices.
void find_opaque_reals_on_host(Halide::Pipeline& pipeline);

}  // namespace attune
