/// The stage template of a softmax whose weights are stored.
#pragma once

#include <vector>

#include "codegen/halide/bodies/stage.h"
#include "codegen/targets/machine.h"
#include "schedules/records/parameters.h"

namespace attune {

/// `vectors`: how many are in flight along a row; `task_elements`: how many elements a task computes at most, in whole rows, of which it has one at least.
std::vector<Parameter> row_softmax_parameters(const Machine& machine, SizeClass size);

/// p = exp(x - max) / sum along `along`, scheduled and stored whole, as a pipeline's output or between stages. All extents may be 0 and unknown.
/// A row of -infinity gives zeros; NaN or +infinity in a row gives a row of NaN.
Stored row_softmax(const RowSoftmax& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values);

}  // namespace attune
