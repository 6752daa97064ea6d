/// DriverDevice: a device beside the CPU that kernels run on and tensors lie on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/abi.h"
#include "runtime/result.h"

namespace attune {

/// Where the work of a call is put: of CUDA a CUcontext and a CUstream, of OpenCL a cl_context and a cl_command_queue.
struct DeviceQueue {
  void* context = nullptr;
  void* queue = nullptr;  ///< null on CUDA: the default stream
};

/// One for each device of a driver, made when somebody first asks for devices of its kind; it lives until the process ends. Any number of
/// threads may ask. Errors are the driver's, in a sentence.
class DriverDevice {
 public:
  DriverDevice(attune_device kind, int number, std::string name, std::int64_t shared_bytes)
      : kind_(kind), number_(number), name_(std::move(name)), shared_bytes_(shared_bytes) {}
  DriverDevice(const DriverDevice&) = delete;
  DriverDevice& operator=(const DriverDevice&) = delete;
  virtual ~DriverDevice() = default;

  attune_device kind() const { return kind_; }
  int number() const { return number_; }                        ///< among the devices of its driver, from 0
  const std::string& name() const { return name_; }             ///< as the driver has it: "NVIDIA H100 80GB HBM3"
  std::int64_t shared_bytes() const { return shared_bytes_; }   ///< that a block of threads may share
  /// "cuda:1", as Kernel::on takes it.
  std::string text() const;

  /// Where kernels run: the runtime's own context and queue. On CUDA the context is the device's primary one, that of the CUDA runtime and of
  /// frameworks.
  virtual Result<DeviceQueue> own_queue() = 0;
  /// Whether anybody has asked for that context.
  virtual bool is_in_use() = 0;
  /// Until all work in that context is done.
  virtual Result<void> wait_for_all() = 0;

 private:
  attune_device kind_;
  int number_;
  std::string name_;
  std::int64_t shared_bytes_;
};

/// The device of a kind by its number ("1"), by a part of its name ("H100"), or the first ("") of those that its driver has. Refuses in words:
/// no driver, no device, none of that number or name, with a list of those that there are.
Result<DriverDevice*> find_device(attune_device kind, std::string_view which = {});

}  // namespace attune
