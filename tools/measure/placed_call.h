/// A call whose tensors lie where a measurement wants them.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/kernel.h"
#include "tools/measure/stored_array.h"

namespace attune {

/// Where tensors lie, in bytes beyond a multiple of `cache_line`: as frameworks allocate them, and as malloc and std::vector do.
inline constexpr std::size_t cache_line = 64, aligned = 0, as_from_malloc = 16;

/// Copies of arrays, in the order of a kernel's call.
class PlacedCall {
 public:
  /// `offset` is a multiple of every element's size.
  PlacedCall(const std::vector<StoredArray>& arrays, std::size_t offset);

  Result<void> operator()(const Kernel& kernel, Workspace* workspace = nullptr) const { return kernel.call(tensors_, workspace); }

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::vector<std::unique_ptr<std::byte, Free>> memory_;
  std::vector<Tensor> tensors_;
};

}  // namespace attune
