/// The stage templates of GPUs. Any rank up to 8, any extents from 0 up, which may be
/// unknown (codegen/halide/rewrites/empty_on_devices.h).
#pragma once

#include <vector>

#include "codegen/halide/bodies/stage.h"
#include "codegen/targets/machine.h"
#include "schedules/records/block_sizes.h"
#include "schedules/records/parameters.h"

namespace attune {

struct GpuTile;

/// `block_columns` x `block_rows` threads a block, of which each has the elements of `thread_rows` rows, all in registers before it stores the first.
std::vector<Parameter> gpu_pointwise_parameters(const Machine& machine, SizeClass size);
Stored gpu_pointwise(const Pointwise& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values);

/// Of a body with `walk`, with the same threads: one for each row that is walked.
Stored gpu_row_walk(const Pointwise& body, const Extents& extents, const GpuTile& tile);
/// Of a body with `choice`, likewise.
Stored gpu_row_choice(const Pointwise& body, const Extents& extents, const GpuTile& tile);

/// `block_columns` x `block_rows` threads a block, of which each keeps `thread_columns` x `thread_rows` sums in registers; operands pass through
/// shared memory, `over_chunk` elements of the contracted dims at once.
std::vector<Parameter> gpu_gemm_parameters(const Machine& machine, SizeClass size);
std::string gpu_gemm_problem(const Machine& machine, const std::vector<Parameter>& values);
Stored gpu_gemm(const Gemm& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values);

/// `block_columns` x `block_rows` threads a block; `block_columns` of them walk a row to find its maximum and its sum.
std::vector<Parameter> gpu_row_softmax_parameters(const Machine& machine, SizeClass size);
Stored gpu_row_softmax(const RowSoftmax& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values);

/// A block of threads carries on the states of `block_columns` columns, token by token.
std::vector<Parameter> gpu_scan_parameters(const Machine& machine, SizeClass size);
Stored gpu_scan(const RecurrenceBody& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values);

/// A block of threads keeps the state of `block_rows` x `thread_rows` queries in registers and walks the blocks of `block_columns` x `thread_keys`
/// keys in which something may be visible; operands pass through shared memory, `over_chunk` elements of the contracted dims and `value_chunk` values
/// a thread at once. A thread has up to `thread_values` columns of the result; where the result has more than a block's,
/// the scores are computed again.
std::vector<Parameter> gpu_online_softmax_parameters(const Machine& machine, SizeClass size);
std::string gpu_online_softmax_problem(const Machine& machine, const std::vector<Parameter>& values);
BlockSizes gpu_online_softmax_blocks(const std::vector<Parameter>& values);
/// FlashAttention-2 (Dao 2023) without tensor cores: no score is stored. With a log-sum-exp the states of all rows are stored once.
Stored gpu_online_softmax(const OnlineSoftmax& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values);

/// As gpu_online_softmax for few queries: a block of threads has `split_tile` keys, and its rows are the queries of all heads that share them. The
/// states of all splits are stored, and merged by a second kernel.
std::vector<Parameter> gpu_split_keys_parameters(const Machine& machine, SizeClass size);
std::string gpu_split_keys_problem(const Machine& machine, const std::vector<Parameter>& values);
BlockSizes gpu_split_keys_blocks(const std::vector<Parameter>& values);
Stored gpu_split_keys(const OnlineSoftmax& body, const Extents& extents, const Machine& machine, const std::vector<Parameter>& values);

}  // namespace attune
