/// The stage template of matrix products: linear layers, scores, weighted sums of values.
#pragma once

#include <vector>

#include "codegen/halide/bodies/stage.h"
#include "codegen/targets/machine.h"
#include "schedules/records/parameters.h"

namespace attune {

/// `packed` = 1 copies both operands into panels and computes tiles of row_tile x (column_vectors * lanes) sums in registers, a task being up
/// to row_block such tiles high; what is copied next is prefetched into the cache of the level `prefetch` (prefetch.h; 0 leaves that to the machine).
/// Of two tensors of bf16 panels hold words of two elements where the machine sums products of pairs.
/// `packed` = 0 reads the operands where they are, for few rows or little work: where vectors go along the columns, up to half a tile's rows take
/// twice its columns, a single row as many as the registers hold.
std::vector<Parameter> gemm_parameters(const Machine& machine, SizeClass size);
int gemm_registers(const Machine& machine, const std::vector<Parameter>& values);

/// The product, scheduled and stored whole: as a pipeline's output or between stages. All extents may be 0 and unknown; an empty sum is 0.
Stored gemm(const Gemm& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values);

}  // namespace attune
