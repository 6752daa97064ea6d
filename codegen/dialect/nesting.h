/// How deep text of MLIR is nested: its parser takes stack for each level, and has no limit of its own.
#pragma once

#include <string>
#include <string_view>

namespace attune {

/// A sentence with the line if the text is nested deeper than any graph is, so deep that parsing or printing it could overflow the stack:
/// by brackets, by definitions that use one another (#a, !t), or by an affine expression, which needs no brackets. Empty for other text.
std::string nesting_problem(std::string_view text);

}  // namespace attune
