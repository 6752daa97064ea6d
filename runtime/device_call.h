/// The tensors of a call on a device.
#pragma once

#include "runtime/abi.h"
#include "runtime/arguments.h"

namespace attune {

/// Copies the outputs of a call that ran on a device to their memory if its `status` is 0, and frees what it holds on the device
/// in any case. Gives the first status that is not 0.
int finish_on_device(void* user_context, const attune_kernel_v3& kernel, CallBuffers& call, int status);

}  // namespace attune
