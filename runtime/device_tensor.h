/// DeviceTensor: a tensor with memory of its own on a device, and copies to it and from it.
#pragma once

#include "runtime/driver_device.h"
#include "runtime/result.h"
#include "runtime/tensor.h"

namespace attune {

/// Contiguous. It holds anything before the first copy or call that writes to it. The memory is given back when the tensor ends, which may be before
/// work in a stream that uses it is done, on CUDA at the price of waiting for it.
class DeviceTensor {
 public:
  DeviceTensor(DeviceTensor&& other) noexcept;
  DeviceTensor& operator=(DeviceTensor&& other) noexcept;
  ~DeviceTensor();

  const Tensor& view() const { return view_; }
  operator const Tensor&() const { return view_; }
  DriverDevice& device() const { return *device_; }

  /// Copies all elements of a contiguous tensor of the host with the same storage and extents, and waits until it is done. A stream as that of a
  /// call: the copy is made behind the work that is in it; without one, behind that of calls without one.
  Result<void> copy_from(const Tensor& host, void* stream = nullptr);
  /// The same the other way.
  Result<void> copy_to(const Tensor& host, void* stream = nullptr) const;

 private:
  friend Result<DeviceTensor> allocate_on(DriverDevice& device, attune_storage storage, Sizes extents);
  DeviceTensor(DriverDevice& device, const Tensor& view) : device_(&device), view_(view) {}
  std::int64_t bytes() const { return view_.element_count() * bytes_of(view_.storage); }

  DriverDevice* device_;
  Tensor view_;
};

/// Memory on a device, as that of a kernel: allocate_on(*kernel.device(), attune_f32, {2, 8, 512, 64}). Refuses what allocate() refuses of the form,
/// and what the device has no memory for, in its driver's words.
Result<DeviceTensor> allocate_on(DriverDevice& device, attune_storage storage, Sizes extents);

}  // namespace attune
