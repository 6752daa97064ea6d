/// How what a stage stores for other stages lies in memory.
#pragma once

#include <string>
#include <vector>

#include "codegen/dialect/dialect.h"
#include "codegen/dialect/tensor_type.h"

namespace attune {

/// The names of a type's dims, outermost first.
std::vector<std::string> dims_of(TensorType type);

/// The dims of a result of a stage, outermost first: as the graph has them, but
/// - last, of a table that is computed element by element, the dim along which another stage gathers: consecutive places then lie in one vector;
/// - first, those that an online softmax has beside queries and keys (batch, heads): the queries or keys of a head then lie one behind the other.
std::vector<std::string> dims_between_stages(mlir::OpResult result);

}  // namespace attune
