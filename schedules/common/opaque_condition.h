/// Conditions and indices from which bounds inference learns nothing.
#pragma once

#include <Halide.h>

namespace attune {

/// `condition`, for a predicate of a loop: it is evaluated as it stands, but what the loop reads and where its memory begins is inferred as if the
/// loop took all of its range. Halide writes what it infers from a predicate into the indices of loads.
Halide::Expr opaque_condition(const Halide::Expr& condition);

/// `index`, for a predicate of which bounds inference shall learn nothing about this index alone. A Func's memory begins at the least index that is
/// asked for; where a predicate leaves one index of a loop, as `tile < 1` does, Halide takes that one for the least in the other iterations, too.
Halide::Expr opaque_index(const Halide::Expr& index);

/// `condition`, for a choice whose operands are computed for it: Halide does not ask for it before it computes them. Where it would, it refuses
/// conditions of several truth values one of which has a name and holds a clamped index.
Halide::Expr unlifted_condition(const Halide::Expr& condition);

}  // namespace attune
