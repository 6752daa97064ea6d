/// The greatest elements of rows on CPUs.
#pragma once

#include "codegen/halide/bodies/stage.h"

namespace attune {

/// Of a body with `choice`. A task takes `task_elements`, a vector of short rows or one long row at least.
Stored chosen_rows(const Pointwise& body, const Extents& extents, int lanes, int task_elements);

}  // namespace attune
