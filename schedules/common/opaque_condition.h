/// Conditions from which bounds inference learns nothing.
#pragma once

#include <Halide.h>

namespace attune {

/// `condition`, for a predicate of a loop: it is evaluated as it stands, but what the loop reads and where its memory begins is inferred as if the
/// loop took all of its range. Halide writes what it infers from a predicate into the indices of loads. And a Func's memory begins at the least
/// index that is asked for: where a predicate leaves one index of an outer loop, as `tile < 1` does, Halide takes that one for the least in its
/// other iterations, too. Hiding the index alone is not enough, for the inner loop's range is solved for it.
Halide::Expr opaque_condition(const Halide::Expr& condition);

/// `condition`, for a choice whose operands are computed for it: Halide does not ask for it before it computes them. Where it would, it refuses
/// conditions of several truth values one of which has a name and holds a clamped index.
Halide::Expr unlifted_condition(const Halide::Expr& condition);

}  // namespace attune
