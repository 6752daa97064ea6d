/// The interpreter of PTX as the driver of CUDA, for tests that call kernels.
#pragma once

#include <functional>

#include "tests/ptx/launch.h"

namespace attune {

/// The interpreter then stands where the runtime and Halide's look for the driver: a library of its name that is there already.
void load_driver();

/// Its log. load_driver() was called before.
ptx::DriverLog& driver_log();

/// What the launches did that a function makes.
ptx::Counts counts_of(const std::function<void()>& call);

}  // namespace attune
