/// Where calls that are timed are put.
#pragma once

#include "runtime/driver_device.h"

namespace attune {

/// A stream of a device as CallOptions takes it: on CUDA one of its own, which lives as long as the process; on OpenCL the runtime's queue.
/// Refuses the devices of other drivers, whose calls copy, and what the driver refuses.
Result<void*> stream_for_calls(DriverDevice& device);

}  // namespace attune
