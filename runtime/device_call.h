/// The tensors of a call on a device.
#pragma once

#include "runtime/abi.h"
#include "runtime/arguments.h"

namespace attune {

class CallContext;

/// Makes the interface find its driver's functions, and gives the buffers of arguments on the device their memory there. Gives 0 or Halide's error
/// code.
int wrap_on_device(CallContext& context, const halide_device_interface_t& interface, Arguments arguments, CallBuffers& call);

/// Copies the outputs of a call that ran on a device to their memory if its `status` is 0, and in any case frees what it holds on the device, and
/// leaves what the caller has there. Gives the first status that is not 0.
int finish_on_device(void* user_context, const attune_kernel_v5& kernel, Arguments arguments, CallBuffers& call, int status);

}  // namespace attune
