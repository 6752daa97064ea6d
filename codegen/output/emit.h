/// Writes a kernel: object, C header, C++ header and JSON, and a shared object beside them or alone.
#pragma once

#include <mlir/Dialect/Func/IR/FuncOps.h>

#include <optional>
#include <string>
#include <vector>

#include "codegen/output/kernel_files.h"
#include "codegen/targets/element.h"
#include "codegen/targets/targets.h"
#include "schedules/records/choice.h"

namespace attune {

struct EmitOptions {
  std::string name;        ///< of the kernel and its files
  std::string variant;
  std::string parameters;  ///< "window=512", comma separated
  std::vector<const TargetInfo*> targets;  ///< of one architecture
  ScheduleChoice schedule;
  std::optional<SizeClass> size;  ///< whose schedules all calls take; each those of its own without it
  std::vector<KnownExtents> calls;  ///< that codes are compiled for (compile_steps.h); all codes without any
  std::string directory = ".";
  KernelFiles files = KernelFiles::object;
  bool has_machine_code = false;  ///< as CodeRequest of codegen/steps/code_generator.h
  int jobs = 0;            ///< how many processes compile at once; as many as this machine has CPUs without it
  std::string codes_folder;  ///< of codes that are there already (compile_steps.h). Symbols are then those of any kernel of the variant: one to a program
};

/// The files that were written, the shared object as the last one and with its trailer, or the problem in words. Nothing half-written stays
/// behind: all files are made in a folder of their own and then renamed, all or none.
struct Emitted {
  std::vector<std::string> files;
  std::string problem;
};
Emitted emit_kernel(mlir::func::FuncOp staged, const EmitOptions& options);

}  // namespace attune
