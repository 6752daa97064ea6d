/// Products by tensor cores: a block of threads has row_tile x column_tile sums in registers, which its warps split; chunks of the contracted dims
/// pass through shared memory in several stages.
#pragma once

#include <string>

#include "codegen/tensor_cores/gemm_stage.h"
#include "codegen/tensor_cores/number.h"

namespace attune::tensor_cores {

/// Multiples of 16. `stages` chunks of over_chunk are in shared memory at once: one is multiplied while the others are copied.
struct GemmTiles {
  int row_tile = 128, column_tile = 128, warp_rows = 64, warp_columns = 32, stages = 3;
  /// Operands of 16 bits have 64 bytes of a row in a chunk, and others, which are split, one round of products.
  static int over_chunk(const GemmStage& stage) { return stage.is_split() ? 16 : 32; }
  int threads() const { return 32 * (row_tile / warp_rows) * (column_tile / warp_columns); }
  int shared_bytes(const GemmStage& stage) const;
};

/// The kernel, a function of the module at whose end `builder` stands. With `is_aligned` what lies side by side in memory of both operands begins at
/// multiples of 16 bytes, and where several dims lie behind one another there, the innermost is a multiple of their elements.
void build_gemm(Builder& builder, const std::string& name, const KernelSteps& plan, const Step& step, const GemmStage& stage, const GemmTiles& tiles,
                bool is_aligned);

}  // namespace attune::tensor_cores
