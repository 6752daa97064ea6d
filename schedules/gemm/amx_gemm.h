/// The template of `gemm` for CPUs with tile registers (AMX): products of tensors of bf16, packed, in tiles of 16 x 16 sums.
#pragma once

#include <string>
#include <vector>

#include "codegen/halide/bodies/stage.h"
#include "codegen/targets/machine.h"
#include "schedules/records/parameters.h"

namespace attune {

/// Why the product cannot be in such registers, in words; empty if it can: where both operands are tensors of bf16, but for factors that are the same for
/// all their elements, or may be rounded to it.
std::string matrix_product_refusal(const Gemm& body, const Extents& extents, const Machine& machine);

/// Those of gemm that there are for a packed product; row_tile x column_vectors vectors of 16 are up to four tiles of sums.
std::vector<Parameter> amx_gemm_parameters(const Machine& machine, SizeClass size);

/// What is wrong with `values`, as a sentence; empty if nothing is. What is not given has the default for large calls.
std::string amx_gemm_problem(const Machine& machine, const std::vector<Parameter>& values);

/// As gemm, of a product without a matrix_product_refusal.
Stored amx_gemm(const Gemm& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values);

}  // namespace attune
