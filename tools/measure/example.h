/// Inputs to try a graph with: extents for its dims, and random elements that mean something.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "dsl/interpret.h"
#include "runtime/abi.h"

namespace attune {

/// Extents by the name of the dim.
using Shape = std::map<std::string, std::int64_t, std::less<>>;

/// An extent for every dim that inputs have: what `given` says, what follows from it by formulas, and odd defaults for the
/// rest (batch 2, heads 3, queries 37, keys 53, depth 64; value_depth is depth), longer where a formula asks for a multiple. The problem: a dim that
/// the graph does not have, given extents that do not go together.
struct FilledShape {
  Shape extents;
  std::string problem;
};
FilledShape fill_shape(const Graph& graph, const Shape& given);

/// The free dims that the dims are or follow from.
std::set<std::string> free_dims_of(const Graph& graph, std::set<std::string> dims);

/// Random inputs: reals are normal with a deviation of 1, or less where that saturates a softmax or the like (tools/measure/input_scale.h); booleans
/// are true in 7 of 10 places, integers positions of the dim that they are compared with or chosen along.
/// Every seed gives the same numbers everywhere.
Arrays random_inputs(const Graph& graph, const Shape& extents, std::uint64_t seed);
/// The same with these deviations of the real inputs.
Arrays normal_inputs(const Graph& graph, const Shape& extents, std::uint64_t seed, const std::map<std::string, double, std::less<>>& deviations);

}  // namespace attune
