/// The drivers of devices, which are loaded at run time only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/abi.h"
#include "runtime/driver_device.h"
#include "runtime/result.h"

namespace attune {

/// Why the device's driver cannot be used; empty if it is there. The driver stays loaded, for kernels to find it. Whether it has a device is
/// not asked: that takes a driver long.
std::string driver_problem(attune_device device);

/// A function of a driver that is loaded, by its name; false if no library of the program has it.
template <class Function>
bool find_function(const char* name, Function& function);

/// Devices of the kind whose own context is there.
std::vector<DriverDevice*> devices_in_use(attune_device kind);

/// The devices of a driver that is loaded, at least one, in its own order; or why there is none.
using DriverDevices = std::vector<std::unique_ptr<DriverDevice>>;
Result<DriverDevices> cuda_devices();
Result<DriverDevices> opencl_devices();
Result<DriverDevices> vulkan_devices();

/// The address of a function of a loaded driver; null if no library has it.
void* driver_symbol(const char* name);

template <class Function>
bool find_function(const char* name, Function& function) {
  function = reinterpret_cast<Function>(driver_symbol(name));
  return function != nullptr;
}

}  // namespace attune
