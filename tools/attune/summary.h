/// What an array holds, in a line, where nobody asked for a file of it.
#pragma once

#include <string>
#include <string_view>

#include "tools/measure/stored_array.h"

namespace attune {

/// "out: f32 [2 x 5], -0.25 to 1.5, mean 0.3, 0 NaN, 0 infinite"; range and mean are of the finite elements, so that one NaN hides nothing.
std::string summary(std::string_view name, const StoredArray& array);

}  // namespace attune
