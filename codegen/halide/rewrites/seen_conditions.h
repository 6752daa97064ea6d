/// Opaque conditions (schedules/common/opaque_condition.h) as what they stand for.
#pragma once

#include <Halide.h>

namespace attune {

/// The language of OpenCL has no function that returns its second argument, and vectors of truth values cannot pass through one. To be a late step of
/// the lowering for devices, when bounds are known.
void see_conditions(Halide::Pipeline& pipeline);

/// One of them.
Halide::Expr seen_condition(const Halide::Expr& condition);

}  // namespace attune
