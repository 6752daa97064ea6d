/// A condition from which bounds inference learns nothing.
#pragma once

#include <Halide.h>

namespace attune {

/// `condition`, for a predicate of a loop: it is evaluated as it stands, but what the loop reads and where its memory begins is inferred as if the
/// loop took all of its range. Halide writes what it infers from a predicate into the indices of loads.
Halide::Expr opaque_condition(const Halide::Expr& condition);

}  // namespace attune
