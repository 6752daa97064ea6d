/// From a stage's graph to the body that a template takes.
#pragma once

#include "codegen/halide/bodies/stage.h"
#include "codegen/halide/lower/lowered_graph.h"
#include "codegen/plan/stage_roles.h"

namespace attune {

/// The order of the dims of each result, outermost first.
using ResultDims = std::vector<std::vector<std::string>>;

/// The body of a stage with these roles; one overload for each kind, but those of attention share one. The pieces refer to `values`,
/// which must outlive the call of the template.
OnlineSoftmax body_of(const AttentionRoles& roles, const LoweredGraph& values, const ResultDims& results);
Gemm body_of(const GemmRoles& roles, const LoweredGraph& values, const ResultDims& results);
RowSoftmax body_of(const RowSoftmaxRoles& roles, const LoweredGraph& values, const ResultDims& results);
RecurrenceBody body_of(const RecurrenceRoles& roles, const LoweredGraph& values, const ResultDims& results);
Pointwise body_of(const RowWalkRoles& roles, const LoweredGraph& values, const ResultDims& results);
Pointwise body_of(const ReduceRoles& roles, const LoweredGraph& values, const ResultDims& results);
Pointwise body_of(const WriteRowsRoles& roles, const LoweredGraph& values, const ResultDims& results);
Pointwise body_of(const PointwiseRoles& roles, const LoweredGraph& values, const ResultDims& results);

}  // namespace attune
