/// What a kernel file holds of code for CUDA.
#pragma once

#include <string>

namespace attune {

struct CudaImage {
  std::string bytes, problem;
};

/// What PTX is for, and what machine code is made of it, as ptxas names them behind "sm_": by default H100's, of PTX for all GPUs from compute
/// capability 8.0 on; or with what the GPUs of 9.0 alone have.
struct CudaArchitectures {
  std::string ptx = "80", machine_code = "90";
};
inline const CudaArchitectures only_9_0 = {"90a", "90a"};

/// An image that CUDA's driver loads: machine code, of which it compiles nothing, and the PTX for all other GPUs. It takes NVIDIA's ptxas and
/// fatbinary, those that set-up installs or of the PATH; without them it is the PTX alone, which the driver compiles when it is loaded.
CudaImage cuda_image(const std::string& ptx, const CudaArchitectures& architectures = {});

}  // namespace attune
