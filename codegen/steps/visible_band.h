/// The columns that a mask shows to a row, where they lie between two lines: a sweep computes no others for a block of rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/dialect/dialect.h"
#include "codegen/steps/block_graph.h"

namespace attune {

/// The band of a mask around which all that the stages make of pairs of rows and columns is 0, if it is one for all of them, and nothing sees the pairs
/// outside: each is read by products and sums over rows or columns, or by a softmax of what is hidden there. The stages stand in their order, and nobody
/// else reads the pairs that they make.
std::optional<Band> visible_band(const std::vector<StageOp>& stages, const std::string& rows, const std::string& columns);

}  // namespace attune
