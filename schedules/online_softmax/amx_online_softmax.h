/// The template of `online_softmax` for CPUs with tile registers (AMX): the same loops, whose products are of bf16 by tiles of 16 x 16.
///
/// A product in such a tile takes 16 cycles for 16 x 16 x 32 multiply-adds, eight times as many as FMAs of f32 in vectors. Sums go from the
/// registers to the first-level cache, where scores are changed and exponentials taken as after any other product.
#pragma once

#include <string>
#include <vector>

#include "codegen/halide/bodies/stage.h"
#include "codegen/targets/machine.h"
#include "schedules/records/block_sizes.h"
#include "schedules/records/parameters.h"

namespace attune {

/// Why the stage's products cannot be in such registers, in words; empty if they can: where query, key and value are tensors of bf16, but for
/// factors that are the same of all elements, or may be rounded to it, and the product is summed over one dim.
std::string matrix_tiles_refusal(const OnlineSoftmax& body, const Extents& extents, const Machine& machine);

/// Those of online_softmax that there are here; register_rows x register_vectors vectors of 16 are up to four tiles of sums.
std::vector<Parameter> amx_online_softmax_parameters(const Machine& machine, SizeClass size);

/// What is wrong with `values`, as a sentence; empty if nothing is. What is not given has the default for large calls.
std::string amx_online_softmax_problem(const Machine& machine, const std::vector<Parameter>& values);

/// As online_softmax, of a stage without a matrix_tiles_refusal.
Stored amx_online_softmax(const OnlineSoftmax& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values);

}  // namespace attune
