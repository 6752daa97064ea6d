/// The stage templates of GPUs: plain tiles, one kernel for each Func that is stored. Any rank up to 8, any extents from 0 up, which may be
/// unknown (codegen/halide/rewrites/empty_on_devices.h).
#pragma once

#include <vector>

#include "codegen/halide/bodies/stage.h"
#include "codegen/targets/machine.h"
#include "schedules/records/parameters.h"

namespace attune {

/// `block_columns` x `block_rows` threads a block, an element each.
std::vector<Parameter> gpu_pointwise_parameters(const Machine& machine, SizeClass size);
Stored gpu_pointwise(const Pointwise& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values);

/// `block_columns` x `block_rows` threads a block, of which each keeps `thread_columns` x `thread_rows` sums in registers.
std::vector<Parameter> gpu_gemm_parameters(const Machine& machine, SizeClass size);
/// Operands are read from global memory: nothing is staged in the memory that a block shares.
Stored gpu_gemm(const Gemm& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values);

/// As gpu_pointwise; a thread walks a row to find its maximum and its sum.
std::vector<Parameter> gpu_row_softmax_parameters(const Machine& machine, SizeClass size);
Stored gpu_row_softmax(const RowSoftmax& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values);

/// As gpu_gemm, for the scores and for the weighted sum of values alike.
std::vector<Parameter> gpu_unfused_softmax_parameters(const Machine& machine, SizeClass size);
/// An online softmax in four kernels: scores, their maximum and sum by row, and the weighted sum of the values. Unlike on CPUs the scores
/// are stored whole, batch x queries x keys in f32, and masked blocks are computed like all others.
Stored gpu_unfused_softmax(const OnlineSoftmax& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values);

}  // namespace attune
