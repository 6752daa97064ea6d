/// Halide's runtime for kernel files that stand alone: compiled while Attune is built, because that takes longer than most kernels do.
#pragma once

#include <span>
#include <string>

#include "codegen/targets/targets.h"

namespace attune {

/// A runtime as the program has it, an object file's bytes. The build writes the table from that of the targets.
struct BuiltInRuntime {
  const char* target;  ///< as Halide spells it
  const unsigned char *begin, *end;
};

std::span<const BuiltInRuntime> built_in_runtimes();

/// The runtime of a file with code for these targets, the bytes of an object file. One that is not in the table, as a sanitizer's, is
/// compiled now.
std::string halide_runtime_object(std::span<const TargetInfo* const> targets);

}  // namespace attune
