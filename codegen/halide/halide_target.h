/// What Halide compiles for: the only part of a target that needs Halide.
#pragma once

#include <Halide.h>

#include <span>
#include <string>

#include "codegen/targets/targets.h"

namespace attune {

Halide::Target halide_target(const TargetInfo& target);

/// The module's machine code, the bytes of an object file. They come through memory: where Halide writes files itself, a disk that is full
/// ends the process.
std::string object_of(const Halide::Module& module);

/// The module's machine code as text. It too comes through memory.
std::string assembly_of(const Halide::Module& module);

/// What the runtime of a kernel file is compiled for that holds code for these targets, of one architecture: any CPU of it, and the devices
/// of all.
Halide::Target halide_runtime_target(std::span<const TargetInfo* const> targets);

}  // namespace attune
