/// The template of `gemm` for a handful of columns: the gates of experts, heads by pair.
#pragma once

#include <string>
#include <vector>

#include "codegen/halide/bodies/stage.h"
#include "codegen/targets/machine.h"
#include "schedules/records/parameters.h"

namespace attune {

/// Why it would be slow, in words; empty if it is not: rows that do not lie along the contraction would all be copied.
std::string narrow_gemm_refusal(const Gemm& body, const Extents& extents, const Machine& machine);

/// row_tile rows and four columns are summed in registers, each sum a vector.
std::vector<Parameter> narrow_gemm_parameters(const Machine& machine, SizeClass size);
int narrow_gemm_registers(const Machine& machine, const std::vector<Parameter>& values);

/// As gemm; the rows are read once, where they are, and the columns are copied if they do not lie along the contraction.
Stored narrow_gemm(const Gemm& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values);

}  // namespace attune
