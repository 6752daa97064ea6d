/// The host's part of a step on a device: the function of runtime/abi.h that launches its kernel through Halide's runtime of the kernel file.
#pragma once

#include <string>
#include <vector>

#include "codegen/steps/code_generator.h"

namespace attune::tensor_cores {

/// A launch: blocks as the product over `tiled` of ceil(product of the extents of dims / tile), of so many threads.
struct Launch {
  struct Tiled {
    std::vector<std::string> dims;
    int tile = 1;
  };
  std::vector<Tiled> tiled;
  int threads = 32, shared_bytes = 0;
  /// The kernel for operands whose rows begin at multiples of 16 bytes, the other one, and the tensors that this is asked of: numbers among those
  /// that the step reads and then writes; and dims whose extents have to be multiples of 8. An empty name: there is no such kernel.
  std::string aligned_kernel, kernel;
  std::vector<std::size_t> aligned_tensors;
  std::vector<std::string> aligned_dims = {};
};

/// An object that defines SYMBOL_argv and SYMBOL_shared_bytes, with what the driver loads in it (codegen/files/cuda_image.h); or an internal problem.
CodeAnswer launcher_object(const CodeRequest& request, const std::string& symbol, const std::string& image, const Launch& launch);

}  // namespace attune::tensor_cores
