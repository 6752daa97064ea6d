/// Whether kernels for a device can run where the tests do.
#pragma once

#include <algorithm>
#include <string>

#include "codegen/targets/targets.h"
#include "runtime/driver_device.h"

namespace attune {

/// Why no kernel for the target can run here; empty if one can.
inline std::string device_problem(const std::string& target) {
  const Result<DriverDevice*> device = find_device(static_cast<attune_device>(find_target(target)->device));
  return device ? std::string() : target + ": " + device.error().message;
}

}  // namespace attune
