/// How long a call of a packed row takes on a device.
#pragma once

#include "runtime/kernel.h"
#include "tools/gpu_check/checks.h"

namespace attune {

/// Seconds of one call: of batches of calls that are put into the stream and waited for once, the fastest, behind two calls that load code
/// and warm up. Tensors are on the device, reals between -1 and 1. Batches end with the time that a row may take; a call that is longer
/// than that is timed once.
Result<double> seconds_of_call(const Kernel& kernel, const PackedCall& call, void* stream);

}  // namespace attune
