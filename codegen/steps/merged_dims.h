/// Stages that only merge dims, taken back: the parts of the dims that they merge into.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codegen/dialect/dialect.h"
#include "dsl/graph.h"

namespace attune {

/// The merges that the stage is made of, the last first; none if it does anything else.
std::vector<Merge> merges_of(StageOp stage);

/// The dims of a tensor by their parts.
struct PartsOfDims {
  std::vector<std::string> dims;
  std::vector<int> counts;  ///< for each dim of the tensor: how many of `dims` it is the product of
};

/// The parts of the dims that the merges, the last first, are into. Nothing where what is known of the dims does not say that they are their product: of
/// a dim that an input has it does where the parts are those that `split` made of it.
std::optional<PartsOfDims> taken_apart(const std::vector<std::string>& dims, const std::vector<Merge>& merges, std::span<const DimInfo> known);

}  // namespace attune
