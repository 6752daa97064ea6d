/// What a device can do at most, measured by kernels: the denominators of what `attune bench` says of it.
#pragma once

#include <string>

#include "codegen/targets/targets.h"

namespace attune {

/// f32 FMAs, each two operations, and bytes read and written by a copy, per second in units of 1e9; or the problem in words.
struct DevicePeak {
  double fma_gflops = 0, copy_gbytes = 0;
  std::string problem;
};

/// By the kernels of peak_graphs.h, compiled for the target. Calls grow until one takes some milliseconds, and the fastest of several counts.
/// `device` as Kernel::on takes it.
DevicePeak device_peak(const TargetInfo& target, const std::string& device);

}  // namespace attune
