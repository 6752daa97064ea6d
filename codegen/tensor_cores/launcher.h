/// The host's part of a step on a device: the function of runtime/abi.h that launches its kernel through Halide's runtime of the kernel file.
#pragma once

#include <optional>
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
  /// that the step reads and then writes; and dims whose extents have to be multiples of 16 bytes, too. An empty name: there is no such kernel.
  std::string aligned_kernel, kernel;
  std::vector<std::size_t> aligned_tensors;
  std::vector<std::string> aligned_dims = {};
  int aligned_elements = 8;  ///< in 16 bytes

  /// Blocks that split a dim: as many splits as make up `blocks`, of `least` elements at least, one if there are fewer. The number of a split runs
  /// behind that of the batch and before that of the last of `tiled`. Each block has memory for its state, whose address and the number of splits are
  /// the last arguments of the kernels. If there are several, a second kernel merges their states: by the name of the first one and `merge`.
  struct Splits {
    std::string dim;
    int least = 1, blocks = 1, state_bytes = 0, merge_threads = 32;
    std::string merge = "_merge";
  };
  std::optional<Splits> splits = {};
};

/// What the driver loads (codegen/files/cuda_image.h), and how its kernels are launched.
struct LaunchedImage {
  std::string image;
  Launch launch;
};

/// An object that defines SYMBOL_argv and SYMBOL_shared_bytes; or an internal problem. `on_9_0`, if there is one, has an aligned kernel alone, whose
/// blocks have their shared memory from the launch: calls on devices of compute capability 9.0 whose tensors are aligned as it says take it, where
/// the driver can launch it (driver_launch.h). SYMBOL_shared_bytes speaks of the other kernels: the runtime compares it with what blocks have on a
/// device unless more is asked for, and any device of compute capability 9.0 gives up to 227 kB.
CodeAnswer launcher_object(const CodeRequest& request, const std::string& symbol, const LaunchedImage& on_all, const LaunchedImage* on_9_0);

}  // namespace attune::tensor_cores
