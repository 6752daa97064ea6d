/// A walk along rows on CPUs: a vector of rows at a time, laid out so that the lanes are neighbours in memory whatever the order of dims is.
#pragma once

#include "codegen/halide/bodies/stage.h"

namespace attune {

/// Of a body with `walk`. A task takes `task_elements`, a vector of rows at least.
Stored walked_rows(const Pointwise& body, const Extents& extents, int lanes, int task_elements);

}  // namespace attune
