/// Kernel: compiled code that is called with tensors.
#pragma once

#include <array>
#include <concepts>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/abi.h"
#include "runtime/codes.h"
#include "runtime/driver_device.h"
#include "runtime/result.h"
#include "runtime/tensor.h"
#include "runtime/workspace.h"

namespace attune {

class KernelFile;
struct CheckedCall;

/// A tensor and which input or output it is.
struct Argument {
  std::string_view name;
  Tensor tensor;
};

/// What a call may be given beside its tensors.
struct CallOptions {
  Workspace* workspace = nullptr;  ///< memory for what the kernel stores between its stages
  /// Of a call on a device: a CUstream of its primary context (a cudaStream_t is one), or a cl_command_queue. The work is put there, behind what is
  /// in it, and the call does not wait for it if all its tensors are on the device: errors of the work then come to whoever waits for the stream.
  /// With a tensor on the host it waits. Null: CUDA's default stream or a queue of the runtime's own, and the call waits for its results in any case.
  void* stream = nullptr;
};

/// A handle, cheap to copy; the kernel file stays open as long as one of its kernels lives. Any number of threads may call at once.
/// A child made by fork() may call CPU kernels that were open before, whatever the parent's threads did at that moment: the fork waits for
/// the parallel loops that run, and parent and child make threads of their own at the next call. A Workspace that a call of the parent was
/// using stays in use in the child, and files are opened in a child only if no thread of the parent was opening one.
class Kernel {
 public:
  /// The kernel of a manifest that is linked into the program. Refuses a malformed manifest, and a kernel that this machine cannot run.
  static Result<Kernel> from(const attune_kernel_v5& manifest);

  /// Checks all arguments, then runs: inputs and outputs in the order of the manifest; kernel.call(tensors, {.stream = stream}).
  /// Any extents from 0 up are right; nothing runs if every output is empty. Takes at most stack_bytes_of_call (`stack.h`) of the thread's
  /// stack, and is refused where too little is left.
  Result<void> call(std::span<const Tensor> tensors, CallOptions options) const;
  Result<void> call(std::span<const Tensor> tensors, Workspace* workspace = nullptr) const { return call(tensors, CallOptions{workspace}); }
  /// The same by name, in any order.
  Result<void> call(std::span<const Argument> arguments, CallOptions options) const;
  Result<void> call(std::span<const Argument> arguments, Workspace* workspace = nullptr) const { return call(arguments, CallOptions{workspace}); }

  /// kernel(q, k, v, out)
  template <std::convertible_to<Tensor>... Tensors>
  Result<void> operator()(const Tensors&... tensors) const {
    return call(std::array<Tensor, sizeof...(Tensors)>{tensors...});
  }
  /// kernel({{"q", q}, {"k", k}, {"v", v}, {"out", out}})
  Result<void> operator()(std::initializer_list<Argument> arguments) const { return call(std::span(arguments.begin(), arguments.size())); }

  std::string_view name() const { return manifest().name; }
  std::string_view variant() const { return manifest().variant; }
  std::span<const attune_tensor_v1> inputs() const;
  std::span<const attune_tensor_v1> outputs() const;
  std::span<const attune_dim_v1> dims() const;
  /// Everything that is known of the kernel; abi.h explains it.
  const attune_kernel_v5& manifest() const;

  /// Tensors, derived dims and the codes of its steps in a few lines.
  std::string describe() const;

  /// The targets that the kernel holds code for, the CPU's before those of devices.
  std::vector<KernelTarget> targets() const;
  /// The same kernel with the code of one device ("cpu", "opencl", "cuda", "vulkan") or of one target ("x86-64-v3") alone: for who wants a device
  /// although the file has code for this CPU, too. Of several devices of a kind it is the first, "cuda:0"; another one is named by its number
  /// among its driver's devices, "cuda:1", or by a part of the name that the driver has for it, "opencl:NVIDIA". Refuses what the kernel holds
  /// no code for, what this machine cannot run, and a device that there is not, with those that there are.
  Result<Kernel> on(std::string_view device) const;

  /// The device that calls run on; null where the kernel has code that this CPU can run and on() named no device.
  DriverDevice* device() const;

  /// Those that this machine can run; a call takes the first that has code for its extents.
  std::span<const UsableTarget> usable_targets() const;

 private:
  friend class Library;
  struct State;
  explicit Kernel(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  /// Of a manifest inside `file`, which the kernel keeps open. It may have no code for this machine: calls then refuse.
  static Result<Kernel> open(const attune_kernel_v5& manifest, std::shared_ptr<const KernelFile> file);
  /// The same kernel, if calls have code that this machine can run. Where that is devices' alone, those that there are.
  Result<Kernel> usable() const;
  Result<void> check_usable() const;
  Result<void> call_checked(std::span<const Tensor* const> tensors, CallOptions options) const;
  Result<void> call_on_device(CheckedCall call, const CallOptions& options) const;
  Result<void> check_workspace_of(const CallOptions& options, std::span<const Tensor* const> tensors) const;
  Result<std::size_t> find_tensor(std::string_view name) const;

  std::shared_ptr<const State> state_;
};

}  // namespace attune
