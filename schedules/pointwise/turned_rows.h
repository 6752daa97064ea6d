/// Elements whose rows lie in memory across those of the result.
#pragma once

#include <optional>
#include <string>

#include "codegen/halide/bodies/stage.h"

namespace attune {

/// The dim along which memory is read, if that is another than the result's innermost one and nothing is read along that; elements are of 32 bits.
std::optional<std::string> turned_dim(const Pointwise& body);

/// The stage in squares that are loaded along that dim and turned in registers; a task takes as many rows of squares as have so many elements.
Stored turned_rows(const Pointwise& body, const Extents& extents, const std::string& along, int task_elements);

}  // namespace attune
