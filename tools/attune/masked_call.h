/// A call of which only what masks let through is looked at, for the commands that explain and draw it.
#pragma once

#include <string>

#include "tools/attune/file_inputs.h"
#include "tools/attune/work.h"

namespace attune {

/// Extents and, where masks read any or some are given, inputs; or the problem in words.
struct MaskedCall {
  Shape extents;
  Arrays inputs;
  std::string problem;
};

/// Of --shape and --in: what neither says has defaults, and is random as the first call of `attune check` has it.
MaskedCall masked_call(const Prepared& prepared, const KernelReport& report, const std::string& shape, const FileInputs& given);

}  // namespace attune
