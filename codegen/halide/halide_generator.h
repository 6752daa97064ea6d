/// Halide as a code generator: the schedules of schedules/ for every kind of stage.
#pragma once

#include "codegen/steps/code_generator.h"

namespace attune {

CodeGenerator halide_generator();

}  // namespace attune
