/// Which stage this is, whatever its dims are called: what tuned records are found by.
#pragma once

#include "codegen/dialect.h"
#include "codegen/tensor_type.h"
#include "dsl/graph.h"
#include "schedules/choice.h"

namespace attune {

/// The key of a stage. `graph` is to_graph(stage); `out` the order of the result's dims in memory and `storage` its element there; `known` the
/// extents that are known before the kernel runs.
///
/// The body has a line for each operation, with dims d0, d1 ... in order of appearance. What depends on no input and has no dims is a number: a
/// real one is the same to a schedule whatever its value (a scale), a whole one (a window) is n0, n1 ... and counts as an extent.
StageKey key_of(StageOp stage, const Graph& graph, const std::vector<std::string>& out, Element storage, const KnownExtents& known);

}  // namespace attune
