/// The stage template of everything elementwise.
#pragma once

#include <vector>

#include "codegen/halide/bodies/stage.h"
#include "codegen/targets/machine.h"
#include "schedules/records/parameters.h"

namespace attune {

/// `task_elements`: how many elements a task computes, in whole rows along the innermost dim or in a part of one.
std::vector<Parameter> pointwise_parameters(const Machine& machine, SizeClass size);

/// The elements, scheduled and stored whole, as a pipeline's output or between stages. Any rank up to 8; all extents may be 0 and unknown.
Stored pointwise(const Pointwise& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values);

}  // namespace attune
