/// How far roundings on the way to a sum move it.
#pragma once

#include "dsl/interpret.h"

namespace attune {

/// For every element of a sum of products t (matmul, reduce_sum) how far one standard rounding error of it is:
///   sqrt(unit_of_sums^2 E + unit_of_terms^2 sum t^2)
/// E is the expected sum of the squares of its partial sums (dsl/rounding.h), which are rounded by the one unit as a rule; the terms are by the other.
Array sum_errors(const Evaluated& node, double unit_of_sums, double unit_of_terms);

}  // namespace attune
