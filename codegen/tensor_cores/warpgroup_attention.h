/// Attention by the products of warpgroups (wgmma), for compute capability 9.0: in the order of FlashAttention-3 (Shah et al. 2024) a
/// block's scores are multiplied while the values of the block before it are, and become weights while these go on.
#pragma once

#include <string>

#include "codegen/tensor_cores/attention_kernel.h"
#include "codegen/tensor_cores/warpgroup.h"

namespace attune::tensor_cores {

/// `query_tile` queries, 64 a warpgroup; `stages` blocks of `key_tile` keys, and as many of values, are in shared memory at once.
struct WarpgroupAttentionTiles : AttentionTiles {
  static constexpr int rows = 16;  // of a warp
  int stages = 2;
  bool has_query_registers = false;  ///< queries are read from registers, and from shared memory otherwise
  bool has_turns = false;            ///< every other warpgroup multiplies while those before it make weights
};

/// Panels of 64 columns that hold so many.
constexpr int panels_of(std::int64_t columns) { return static_cast<int>((columns + Panels::columns - 1) / Panels::columns); }

int shared_bytes(const WarpgroupAttentionTiles& tiles, std::int64_t depth, std::int64_t value_columns);

/// The kernel, a function of the module at whose end `builder` stands. Rows of queries, keys and values begin at multiples of 16 bytes.
void build_warpgroup_attention(Builder& builder, const std::string& name, const KernelSteps& plan, const Step& step,
                               const AttentionStage& stage, const WarpgroupAttentionTiles& tiles);

}  // namespace attune::tensor_cores
