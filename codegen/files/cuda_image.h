/// What a kernel file holds of code for CUDA.
#pragma once

#include <string>

namespace attune {

struct CudaImage {
  std::string bytes, problem;
};

/// An image that CUDA's driver loads: machine code for sm_90 (H100), of which it compiles nothing, and the PTX for all other GPUs. It takes NVIDIA's ptxas and
/// fatbinary, those that set-up installs or of the PATH; without them it is the PTX alone, which the driver compiles when it is loaded.
CudaImage cuda_image(const std::string& ptx);

}  // namespace attune
