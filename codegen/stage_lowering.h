/// From a stage's graph to the body that a template takes.
#pragma once

#include "codegen/lower/body.h"
#include "codegen/plan/stage_roles.h"
#include "codegen/stage.h"

namespace attune {

/// The order of the dims of each result, outermost first.
using ResultDims = std::vector<std::vector<std::string>>;

/// The body of a stage with these roles; one overload for each kind. The pieces refer to `body`, which must outlive the call of the template.
OnlineSoftmax body_of(const OnlineSoftmaxRoles& roles, const Body& body, const ResultDims& results);
Gemm body_of(const GemmRoles& roles, const Body& body, const ResultDims& results);
RowSoftmax body_of(const RowSoftmaxRoles& roles, const Body& body, const ResultDims& results);
Pointwise body_of(const ReduceRoles& roles, const Body& body, const ResultDims& results);
Pointwise body_of(const PointwiseRoles& roles, const Body& body, const ResultDims& results);

}  // namespace attune
