/// From a stage's graph to the body that a template takes, and from there to scheduled Halide Funcs.
#pragma once

#include "codegen/lower/body.h"
#include "codegen/stage_plan.h"

namespace attune {

/// The roles in the stage's graph (one output), as templates name them. The pieces refer to `body`, which must outlive
/// the call of the template. `out`: the order of the result's dims, outermost first.
OnlineSoftmax online_softmax_body(const Body& body, const std::vector<std::string>& out);
Gemm gemm_body(const Body& body, const std::vector<std::string>& out);
RowSoftmax row_softmax_body(const Body& body, const std::vector<std::string>& out);
Pointwise pointwise_body(const Body& body, const std::vector<std::string>& out);

}  // namespace attune
