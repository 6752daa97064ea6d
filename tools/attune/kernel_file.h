/// A kernel file of prepared options: written where it is asked for, or opened at once for a command that runs it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/output/kernel_files.h"
#include "runtime/library.h"
#include "tools/attune/options.h"

namespace attune {

/// The files that were written, or the problem in words.
struct WrittenKernel {
  std::vector<std::string> files;
  std::string problem;
};
struct KernelFileOptions {
  std::string name = {}, directory = ".";  ///< the graph's name without one
  KernelFiles files = KernelFiles::object;
  bool has_machine_code = false;       ///< beside PTX: for files that are kept
  std::optional<SizeClass> size = {};  ///< all calls take the schedules for it
  std::vector<KnownExtents> calls = {};  ///< whose codes alone are compiled: as StepOptions of codegen/output/compile_steps.h has it
  int jobs = 0;                        ///< so many processes compile at once, or as many as this machine has CPUs
  std::string codes_folder = {};       ///< as StepOptions of codegen/output/compile_steps.h has it
};
WrittenKernel compile_kernel(const Prepared& prepared, const KernelFileOptions& file);

/// A kernel that was compiled into a temporary folder and opened; or the problem in words.
struct OpenKernel {
  std::optional<Kernel> kernel;
  std::string problem;
};
struct OpenOptions {
  std::string device = {};               ///< as Kernel::on takes it: its code alone
  std::vector<KnownExtents> calls = {};  ///< that are made of it, whose codes alone are compiled; all codes without any
  std::optional<SizeClass> size = {};    ///< all calls take the schedules for it
  int jobs = 0;                          ///< so many processes compile at once, or as many as this machine has CPUs
};
OpenKernel open_kernel(const Prepared& prepared, const OpenOptions& options = {});

/// Where codes of kernels that are called at once and thrown away are kept, or nothing: in a folder of ATTUNE_CODES for this very compiler, whichever
/// program it is in.
struct CodesFolder {
  std::string path, problem;
};
CodesFolder kept_codes();

/// The kernel of an open file; the same device.
OpenKernel kernel_of(const Library& library, std::string_view name, const std::string& device);

/// Adds the option --device to a command.
void add_device_option(const Command& command, std::string& device);

}  // namespace attune
