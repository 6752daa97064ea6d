/// The drivers of devices, which are loaded at run time only.
#pragma once

#include <string>

#include "runtime/abi.h"
#include "runtime/arguments.h"

namespace attune {

/// Why the device cannot be used; empty if its driver is there. The driver stays loaded, for kernels to find it.
std::string driver_problem(attune_device device);

/// Copies the outputs of a call that ran on a device to their memory if its `status` is 0, and frees what it holds on the device
/// in any case. Gives the first status that is not 0.
int finish_on_device(void* user_context, const attune_kernel_v3& kernel, CallBuffers& call, int status);

}  // namespace attune
