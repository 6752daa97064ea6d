/// The call of a kernel: the steps one after the other, their buffers and context, and what their error codes say.
#pragma once

#include "runtime/abi.h"
#include "runtime/arguments.h"
#include "runtime/codes.h"
#include "runtime/driver_device.h"
#include "runtime/result.h"
#include "runtime/stored.h"
#include "runtime/workspace.h"

namespace attune {

/// Refuses a thread whose stack has no room for what a kernel takes.
Result<void> check_stack(const attune_kernel_v5& kernel);

/// A call whose arguments are checked.
struct CheckedCall {
  const attune_kernel_v5& kernel;
  const UsableTarget& target;  ///< has code for the extents in each step
  std::span<const Lifetime> lifetimes;
  Arguments arguments;
  std::span<const std::int64_t> extents;  ///< of the kernel's dims
  DriverDevice* device = nullptr;         ///< where a call on a device runs
  const attune_hooks_v2* hooks = nullptr;  ///< into the Halide runtime of the kernel's file; null of a linked kernel
  void* stream = nullptr;                  ///< of the caller, on a device
};

/// Runs the steps, if the stack has room. `workspace` may be null.
Result<void> run(const CheckedCall& call, Workspace* workspace);

}  // namespace attune
