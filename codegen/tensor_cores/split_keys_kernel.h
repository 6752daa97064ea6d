/// Attention of few queries by tensor cores, after Flash-Decoding (Dao et al. 2023): a block of threads has a split of the keys and rows of all heads
/// that share these, so that keys and values are read once. Its warps have blocks of keys by turns, which each copies for itself, so that none waits
/// for another before the end; then their states are merged, and by a second kernel those of all splits.
#pragma once

#include <string>
#include <vector>

#include "codegen/tensor_cores/attention_kernel.h"

namespace attune::tensor_cores {

/// All `query_tile` rows are each of `key_warps` warps', a power of 2; of each `stages` blocks of `key_tile` rows, keys or values, are in shared
/// memory at once.
struct SplitKeysTiles : AttentionTiles {
  int key_warps = 4, stages = 3;
  int block_threads() const { return 32 * key_warps; }
};

/// The dims of the batch whose keys are others; and queries with those of the batch that share keys.
std::vector<std::string> dims_of_keys(const AttentionStage& stage);
std::vector<std::string> dims_of_rows(const AttentionStage& stage);

/// Of a block of threads: what it shares, and the state of its rows in memory.
int shared_bytes(const SplitKeysTiles& tiles, const AttentionStage& stage);
int state_bytes(const SplitKeysTiles& tiles, const AttentionStage& stage);
/// Those of the second kernel, which has as many warps as can share their states.
SplitKeysTiles merge_tiles(const SplitKeysTiles& tiles, const AttentionStage& stage);

/// Two kernels, functions of the module at whose end `builder` stands, which take behind the step's arguments the memory of states and the number of
/// splits: `name`, whose blocks are numbered by batches, splits and rows, of which the last run fastest, and which writes the result of a single
/// split; and `merge`, which writes that of several.
void build_split_keys(Builder& builder, const std::string& name, const std::string& merge, const KernelSteps& plan, const Step& step,
                      const AttentionStage& stage, const SplitKeysTiles& tiles, bool is_aligned);

}  // namespace attune::tensor_cores
