/// DriverDevice: a device beside the CPU that kernels run on and tensors lie on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
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
  int number() const { return number_; }                       ///< among the devices of its driver, from 0
  const std::string& name() const { return name_; }            ///< as the driver has it: "NVIDIA H100 80GB HBM3"
  std::int64_t shared_bytes() const { return shared_bytes_; }  ///< that a block of threads may share
  /// "cuda:1", as Kernel::on takes it.
  std::string text() const;
  /// What tells apart which kernels of one code it takes: "compute capability 9.0" of CUDA; empty elsewhere.
  virtual std::string capability() const { return {}; }

  /// Tensors that one kernel there can read and write.
  virtual int most_tensors() const { return std::numeric_limits<int>::max(); }

  /// Whether tensors can lie there; else calls copy those of the host.
  virtual bool keeps_tensors() const { return true; }

  /// Where kernels run: the runtime's own context and queue. On CUDA the context is the device's primary one, that of the CUDA runtime and of
  /// frameworks.
  virtual Result<DeviceQueue> own_queue() = 0;
  /// Where kernels run that are put into somebody's stream: a CUstream of the device's primary context, or a cl_command_queue, whose context has this
  /// device alone. Null: the runtime's own.
  virtual Result<DeviceQueue> queue_of(void* stream) = 0;
  /// Whether anybody has asked for that context.
  virtual bool is_in_use() = 0;
  /// Until all work in that context is done; until that in the queue is.
  virtual Result<void> wait_for_all() = 0;
  virtual Result<void> wait(const DeviceQueue& queue) = 0;
  /// The device begins with the work in the queue, as soon as it can: drivers may keep it for somebody who waits.
  virtual Result<void> submit(const DeviceQueue& queue) = 0;

  /// Why kernels cannot work there on bytes `first` up to, not including, `end` behind `memory` (of CUDA an address, of OpenCL a cl_mem), in words
  /// that follow the name of a tensor; empty if they can, as far as the driver knows.
  virtual std::string memory_problem(void* memory, std::int64_t first, std::int64_t end, const DeviceQueue& queue) = 0;

  /// Memory of so many bytes, more than 0, in the own context; release() takes it when the work that uses it is done.
  virtual Result<void*> allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) = 0;
  /// Copies, behind the work that is in the queue, and waits until it is done.
  virtual Result<void> write(void* memory, const void* from, std::size_t bytes, const DeviceQueue& queue) = 0;
  virtual Result<void> read(const void* memory, void* to, std::size_t bytes, const DeviceQueue& queue) = 0;

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
