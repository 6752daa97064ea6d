/// What a lowered expression reads.
#pragma once

#include <Halide.h>

namespace attune {

/// Its value may change where memory is written: it has a load. Of lowered statements, where calls of Funcs have become loads.
bool holds_loads(const Halide::Expr& e);

}  // namespace attune
