/// Which codes of a kernel's steps run: of a target that the machine has, once, and by the extents, at each call.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/abi.h"
#include "runtime/cpu.h"
#include "runtime/driver_device.h"
#include "runtime/result.h"

namespace attune {

/// A target that the machine can run, and the codes that each step of the kernel has for it.
struct UsableTarget {
  std::string_view name;
  attune_device device = attune_cpu;
  std::vector<std::span<const attune_code_v3>> codes;  ///< of each step
  bool takes_all = true;                               ///< each step has code without conditions, for all other extents
};

/// Those of a sound manifest that the machine can run: those that were tuned for its CPU, then others, both in the manifest's order.
std::vector<UsableTarget> usable_targets(const attune_kernel_v5& kernel, const Capabilities& machine);

/// Why it can run none: what the kernel holds and what the machine lacks.
std::string no_usable_target(const attune_kernel_v5& kernel, const Capabilities& machine);

/// Whether `name` is the target's ("x86-64-v3") or its device's ("cpu"), or one of a driver's devices of that kind ("cuda:1").
bool is_for(const UsableTarget& target, std::string_view name);

/// Which of a driver's devices the name says: "1" of "cuda:1"; empty if it says none.
inline std::string_view which_of(std::string_view name) {
  const std::size_t colon = name.find(':');
  return colon == std::string_view::npos ? std::string_view() : name.substr(colon + 1);
}

/// A target that a kernel holds code for.
struct KernelTarget {
  std::string_view name;              ///< "x86-64-v3", "opencl"
  attune_device device = attune_cpu;  ///< which many targets may be for
  std::string_view cpus;              ///< the kinds that it was tuned for
  std::string problem;                ///< why this machine cannot run it; empty if it can
};

/// All of them, in the manifest's order.
std::vector<KernelTarget> targets_of(const attune_kernel_v5& kernel, const Capabilities& machine);

/// Why the machine can run no code for `name`: what the kernel holds, or what the machine lacks.
std::string no_code_for(const attune_kernel_v5& kernel, std::string_view name, const Capabilities& machine);

/// The first of a step's codes whose conditions hold for the extents of the kernel's dims; null if none.
const attune_code_v3* choose_code(std::span<const attune_code_v3> codes, std::span<const std::int64_t> extents);

/// The first target that has code for the extents in each step; null if none.
const UsableTarget* choose_target(std::span<const UsableTarget> usable, std::span<const std::int64_t> extents);

/// The first target, if it takes all extents: most calls of most kernels.
inline const UsableTarget* first_for_all(std::span<const UsableTarget> usable) { return usable.front().takes_all ? &usable.front() : nullptr; }

/// Refuses a device whose blocks of threads share less memory than codes of targets for its kind need, or whose kernels take fewer tensors than a stage
/// has, before any is launched: drivers need not notice.
Result<void> check_limits(const attune_kernel_v5& kernel, std::span<const UsableTarget> targets, const DriverDevice& device);

/// Why none was chosen: the extents, and what each code takes.
std::string no_code_for_extents(const attune_kernel_v5& kernel, std::span<const UsableTarget> usable, std::span<const std::int64_t> extents);

}  // namespace attune
