/// The Halide runtimes of kernels for devices: whose contexts and queues they take, and what the runtime asks of them.
#pragma once

#include <HalideRuntime.h>

#include "runtime/abi.h"
#include "runtime/result.h"

namespace attune {

class CallContext;

/// Code for devices of the Halide runtime inside this program runs where its call's CallContext says, once.
void take_over_own_devices();

/// The same for the Halide runtime inside a shared kernel file.
void take_over_devices(const attune_hooks_v2& hooks);

/// Refuses a manifest with code for a device that its file, or (null) this program, has no Halide runtime for.
Result<void> check_hooks(const attune_kernel_v5& kernel, const attune_hooks_v2* hooks);

/// How Halide's runtime works with a device: that of a shared file, or (null) of this program.
const halide_device_interface_t* interface_of(const attune_hooks_v2* hooks, attune_device device);

/// Makes an interface find the functions of the device's driver, once; gives 0 or Halide's error code. Without it the first call would, which
/// Halide's runtime for OpenCL does without a lock: two first calls at once would abort.
int make_ready(const halide_device_interface_t& interface, CallContext& context);

/// Gives back what the Halide runtime inside a shared file keeps on devices of CUDA: memory to be used again, which nobody would. All its calls have
/// returned; their work there is waited for. (On OpenCL it keeps nothing, and what is in use lives as long as its work.)
void release_devices(const attune_hooks_v2& hooks);

}  // namespace attune
