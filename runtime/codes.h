/// Which of a kernel's code objects runs: by what the machine has, once, and by the extents, at each call.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/abi.h"
#include "runtime/cpu.h"

namespace attune {

/// The code objects that the machine can run, in the manifest's order.
std::vector<const attune_code_v1*> usable_codes(const attune_kernel_v1& kernel, const Capabilities& machine);

/// Why it can run none: what the kernel holds and what the machine lacks.
std::string no_usable_code(const attune_kernel_v1& kernel, const Capabilities& machine);

/// Whether `name` is the code's target ("x86-64-v3") or its device ("cpu").
bool is_for(const attune_code_v1& code, std::string_view name);

/// A target that a kernel holds code for.
struct KernelTarget {
  std::string_view name;              ///< "x86-64-v3", "opencl"
  attune_device device = attune_cpu;  ///< which many targets may be for
  std::string problem;                ///< why this machine cannot run it; empty if it can
};

/// All of them, in the manifest's order.
std::vector<KernelTarget> targets_of(const attune_kernel_v1& kernel, const Capabilities& machine);

/// Why the machine can run no code for `name`: what the kernel holds, or what the machine lacks.
std::string no_code_for(const attune_kernel_v1& kernel, std::string_view name, const Capabilities& machine);

/// The first whose conditions hold for the extents of the kernel's dims; null if none.
const attune_code_v1* choose_code(std::span<const attune_code_v1* const> usable, std::span<const std::int64_t> extents);

/// Why none was chosen: the extents, and what each code object takes.
std::string no_code_for_extents(const attune_kernel_v1& kernel, std::span<const attune_code_v1* const> usable, std::span<const std::int64_t> extents);

}  // namespace attune
