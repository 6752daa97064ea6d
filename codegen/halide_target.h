/// What Halide compiles for: the only part of a target that needs Halide.
#pragma once

#include <Halide.h>

#include "codegen/targets.h"

namespace attune {

Halide::Target halide_target(const TargetInfo& target);

}  // namespace attune
