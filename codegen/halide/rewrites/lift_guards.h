/// Moves conditions on stored values out of the loops that they do not depend on.
#pragma once

#include <Halide.h>

namespace attune {

/// Halide leaves a reduction's predicate in the innermost loop where it calls a Func: nothing is stored of a block that it refuses, but all
/// that is stored is still computed. This puts such a condition around the body of the outermost serial loop in which all that
/// it depends on is known and which stores nothing else outside of itself. A loop that stores nothing at all outside of itself is left out.
/// Inside a branch, conditions do without what it has asked (condition_parts.h): each producer of a block would ask again.
Halide::Internal::Stmt lift_guards(const Halide::Internal::Stmt& s);

/// As a step of the pipeline's lowering, behind those that make vectors.
void lift_guards(Halide::Pipeline& pipeline);

}  // namespace attune
