/// Neighbouring elements of a device's memory in one load.
#pragma once

#include <Halide.h>

namespace attune {

/// A load of 128 bits must lie at a multiple of them, and nothing is known of the addresses and strides of a caller's tensors when a kernel is
/// compiled. What a thread of a device stores by vectors of 4 is therefore computed in two ways, of which the places that it loads choose:
///   out[ramp] = in[ramp(place, 1, 4)]
///   ->  let in.beyond = in's address / 4 % 4, on the host
///       if ((place | in.beyond) % 4 == 0) out[ramp] = in[ramp(place, 1, 4) aligned] else out[ramp] = in[ramp(place, 1, 4)]
/// Indices that are kept inside of a tensor, as those of a row's last vector, must be inside anyway. Elements of 16 bits are loaded as one word of
/// 64. To be a late step of the lowering for CUDA, when indices are flat:
/// its code generator makes loads of 128 bits where an index says that it is aligned.
Halide::Internal::Stmt with_wide_loads(const Halide::Internal::Stmt& s);
void load_wide(Halide::Pipeline& pipeline);

}  // namespace attune
