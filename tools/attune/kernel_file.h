/// A kernel file of prepared options: written where it is asked for, or opened at once for a command that runs it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/kernel.h"
#include "tools/attune/options.h"

namespace attune {

/// The files that were written, or the problem in words.
struct KernelFile {
  std::vector<std::string> files;
  std::string problem;
};
/// With a size all calls take the schedules for it.
KernelFile compile_kernel(const Prepared& prepared, const std::string& name, const std::string& directory, bool is_shared,
                          std::optional<SizeClass> size = {});

/// A kernel that was compiled into a temporary folder and opened; or the problem in words.
struct OpenKernel {
  std::optional<Kernel> kernel;
  std::string problem;
};
OpenKernel open_kernel(const Prepared& prepared);

}  // namespace attune
