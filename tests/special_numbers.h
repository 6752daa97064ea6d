/// Numbers that kernels and the interpreter must agree about.
#pragma once

#include <limits>

namespace attune {

inline constexpr double infinity = std::numeric_limits<double>::infinity(), quiet_nan = std::numeric_limits<double>::quiet_NaN();

}  // namespace attune
