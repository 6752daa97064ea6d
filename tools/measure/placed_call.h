/// A call whose tensors lie where a measurement wants them.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/device_tensor.h"
#include "runtime/kernel.h"
#include "tools/measure/stored_array.h"

namespace attune {

/// Where tensors lie, in bytes beyond a multiple of `cache_line`: as frameworks allocate them, and as malloc and std::vector do.
inline constexpr std::size_t cache_line = 64, aligned = 0, as_from_malloc = 16;

/// Copies of arrays, in the order of a kernel's call.
class PlacedCall {
 public:
  /// On the host; `offset` is a multiple of every element's size.
  PlacedCall(const std::vector<StoredArray>& arrays, std::size_t offset);
  /// On a device, so that calls copy nothing. Refuses what the device has no memory for.
  static Result<PlacedCall> on(DriverDevice& device, const std::vector<StoredArray>& arrays);

  /// On a device the call is done when it returns.
  Result<void> operator()(const Kernel& kernel, Workspace* workspace = nullptr) const { return kernel.call(tensors_, workspace); }
  /// With a stream it is done when the stream is.
  Result<void> operator()(const Kernel& kernel, const CallOptions& options) const { return kernel.call(tensors_, options); }
  /// What lies in the place of the array of that number.
  Result<StoredArray> fetched(std::size_t number) const;

 private:
  PlacedCall() = default;
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::vector<std::unique_ptr<std::byte, Free>> memory_;
  std::vector<DeviceTensor> on_device_;
  std::vector<Tensor> tensors_;
};

}  // namespace attune
