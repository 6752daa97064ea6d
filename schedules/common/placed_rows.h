/// Rows that are written in memory that holds more than they.
#pragma once

#include <string>
#include <vector>

#include "codegen/halide/bodies/stage.h"

namespace attune {

/// A Func over `out` whose update stores the rows and nothing else; no two of its iterations store one element, so that they may run in any order.
struct PlacedRows {
  Halide::Func func;
  std::vector<Halide::RVar> loops;  ///< of the update, over `dims` from the innermost
  std::vector<std::string> dims;    ///< of the rows, outermost first
};

/// Of a body with `places`.
PlacedRows placed_rows(const Pointwise& body, const Extents& extents);

}  // namespace attune
