/// How large random inputs are, so that what saturates (softmax, exp, tanh ...) does not.
#pragma once

#include <map>
#include <string>

#include "tools/measure/example.h"

namespace attune {

/// For each real input of the graph what standard normal numbers are multiplied with, 1 for most. Where the operand of a softmax, exp, tanh, sigmoid
/// or erf would deviate by more than 1.5 because of the inputs (rows of a softmax: from their mean), all real inputs that it is made of are made
/// smaller by one factor until the deviation is about 1: a softmax that is one-hot, or a sigmoid that is 0 or 1, hides what is computed behind it.
/// So that the state of a recurrence neither grows without end nor is forgotten at once, keys have a length of about 1, beta is about a half, and
/// logarithms of decays add up to about 1.
/// Measured on a call of the shape in which dims that products are summed over are cut to 1024, others and the keys of a softmax to 8.
std::map<std::string, double, std::less<>> input_scales(const Graph& graph, const Shape& extents);

}  // namespace attune
