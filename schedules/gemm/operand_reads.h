/// What an operand of a product that is read in place costs, and which memory makes its elements.
#pragma once

#include <string>

#include "codegen/halide/bodies/stage.h"

namespace attune {

/// An element takes at most so many operations beside its loads.
bool is_cheap(const Piece& piece, int most);

/// Whether the place of some element that the value reads depends on the variable.
bool is_read_along(const Halide::Expr& value, const std::string& variable);

}  // namespace attune
