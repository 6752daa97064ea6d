/// What templates know of devices: functions that are one instruction there, and how much memory a block of threads may share.
#pragma once

#include <Halide.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "codegen/targets/machine.h"

namespace attune {

/// 2^x of a real that is 0 or less, 0 for minus infinity; NaN for NaN. On CUDA within 2 ulp (`ex2.approx.ftz`), results below 2^-126 are 0.
Halide::Expr power_of_2_on(Device device, const Halide::Expr& x);

/// The greater one; of a number and NaN the number.
Halide::Expr maximum_on(Device device, const Halide::Expr& a, const Halide::Expr& b);

/// That a block of threads needs so many f32 of shared memory, and devices grant less, as a sentence; empty if they do not.
std::string shared_memory_problem(std::string_view schedule, Device device, std::int64_t elements);

}  // namespace attune
