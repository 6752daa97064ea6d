/// What Halide compiles for: the only part of a target that needs Halide.
#pragma once

#include <Halide.h>

#include "codegen/targets.h"

namespace attune {

Halide::Target halide_target(const TargetInfo& target);

/// What its runtime in a kernel file is compiled for: any CPU of the architecture.
Halide::Target halide_runtime_target(const TargetInfo& target);

}  // namespace attune
