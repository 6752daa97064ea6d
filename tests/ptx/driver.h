/// The interpreter of PTX as the driver of CUDA, for tests that call kernels.
#pragma once

#include <functional>

#include "tests/ptx/driver_state.h"
#include "tests/ptx/launch.h"

namespace attune {

/// The interpreter then stands where the runtime and Halide's look for the driver: a library of its name that is there already. It has so many
/// devices; those of a program's first call count.
void load_driver(int devices = 1);

/// Its log. load_driver() was called before.
ptx::DriverLog& driver_log();

/// What tests tell it, and see of it: all anew. load_driver() was called before.
ptx::DriverState& fresh_driver_state();
ptx::DriverState& driver_state();

/// A function of the driver by its name.
void* driver_address(const char* name);
template <class Function>
Function driver_function(const char* name) {
  return reinterpret_cast<Function>(driver_address(name));
}

/// What the launches did that a function makes.
ptx::Counts counts_of(const std::function<void()>& call);

}  // namespace attune
