/// What an operand of a product that is read in place costs, and which memory makes its elements.
#pragma once

#include <string>
#include <vector>

#include "codegen/halide/bodies/stage.h"

namespace attune {

/// Operations that are cheaper than to store an element and to load it again. Of a, which is computed again for every tile of columns: a load,
/// perhaps widened from bf16 and scaled. Of b, which is computed once for a tile of rows, and there are few: an element of a quantised block, too.
inline constexpr int cheap_of_a = 4, cheap_of_b = 12;

/// The piece as f32, stored with the last of these dims that it has innermost.
Piece copied(const Piece& piece, const std::vector<std::string>& innermost, int lanes);

/// An element takes at most so many operations beside its loads.
bool is_cheap(const Piece& piece, int most);

/// Whether the place of some element that the value reads depends on the variable.
bool is_read_along(const Halide::Expr& value, const std::string& variable);

}  // namespace attune
