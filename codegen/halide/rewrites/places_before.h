/// Places before an array's first element, which a predicate hides.
#pragma once

#include <Halide.h>

namespace attune {

/// Where the extents are known, the lanes of a load or store that its predicate hides can stand at numbers below zero. For vectors of elements side by
/// side Halide's code generation asserts that there are none, predicate or not: this gives such a vector's first place a name, behind which it
/// does not look. Behind all steps that simplify.
Halide::Internal::Stmt with_named_places_before(const Halide::Internal::Stmt& s);

}  // namespace attune
