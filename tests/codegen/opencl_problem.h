/// Whether kernels for OpenCL can run where the tests do.
#pragma once

#include <string>

#include "tests/codegen/kernel_case.h"

namespace attune {

/// Why no OpenCL kernel can run here; empty if one can.
inline std::string opencl_problem(const KernelCase& kernel, const std::string& shape) {
  if (!kernel.is_usable()) return "there is no OpenCL driver";
  const std::string difference = kernel.difference(shape, 1);
  const bool has_no_device = difference.find("clGetPlatformIDs") != std::string::npos || difference.find("clGetDeviceIDs") != std::string::npos;
  return has_no_device ? difference : std::string();
}

}  // namespace attune
