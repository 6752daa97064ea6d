/// Attention by tensor cores, in the order of FlashAttention-2 (Dao 2023): a block of threads has a block of queries, which its warps split; scores,
/// weights and sums stay in registers, and blocks of keys and values pass through shared memory.
#pragma once

#include <string>

#include "codegen/tensor_cores/attention_stage.h"
#include "codegen/tensor_cores/number.h"

namespace attune::tensor_cores {

/// `query_tile` queries by query_tile / warp_rows warps, `key_tile` keys at once. Multiples of 16. Queries are kept in registers, or loaded from
/// shared memory for each block of keys.
struct AttentionTiles {
  int query_tile = 64, key_tile = 64, warp_rows = 16;
  bool keeps_queries = true;
  int resident_blocks = 1;
  int warps() const { return query_tile / warp_rows; }
  int threads() const { return 32 * warps(); }
};

/// Elements from a row in shared memory to the next: rows of 16-byte chunks begin at the same banks, and chunks are exchanged by rows
/// (shared_tile.h).
int row_pitch(Element element, std::int64_t columns);
/// Bytes of shared memory: queries that are kept in registers lie where keys and values lie later.
int shared_bytes(const AttentionTiles& tiles, const AttentionStage& stage);

/// The kernel, a function of the module at whose end `builder` stands. With `is_aligned` rows of operands and of the result begin at multiples of 16
/// bytes.
void build_attention(Builder& builder, const std::string& name, const KernelSteps& plan, const Step& step, const AttentionStage& stage,
                     const AttentionTiles& tiles, bool is_aligned);

}  // namespace attune::tensor_cores
