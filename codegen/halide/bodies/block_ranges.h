/// What is known of a stored tensor's elements by blocks, computed once in a call.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "codegen/halide/bodies/stage.h"
#include "codegen/halide/numbers/lowered.h"
#include "codegen/targets/machine.h"
#include "dsl/interval.h"

namespace attune {

/// Everything that the elements of a block may be; nothing if it is not known.
using BlockSource = std::function<std::optional<Interval<Lowered>>(const Block&)>;

/// Of integers or truth values at `dims`, outermost first: the least and the greatest element of each block, looked up in tensors of one
/// element a block. Blocks are numbered along each dim or single elements; of others nothing is known. It is called while `extents` live.
/// Blocks that are made of ones looked up before take what is known from these, so the finest are to be looked up first.
BlockSource block_ranges(const std::string& name, std::function<Lowered(const Coordinates&)> element, std::vector<std::string> dims,
                         const Extents& extents, const Machine& machine);

}  // namespace attune
