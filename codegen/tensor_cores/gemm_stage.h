/// A product as tensor cores compute it: where its operands lie in memory, and what is made of the sums; or why it cannot be.
#pragma once

#include <algorithm>
#include <optional>

#include "codegen/tensor_cores/operand.h"
#include "codegen/tensor_cores/shared_tile.h"

namespace attune::tensor_cores {

/// out[batch.., rows.., columns..] = finish(factor * sum over `over` of a * b); a has batch, rows and over, b has batch, columns and over.
struct GemmStage {
  Operand a, b;
  std::vector<std::string> batch, rows, columns, over;  ///< in the order of the operand's dims in memory, outermost first
  int matmul = -1, result = -1;                         ///< the sums, and what is stored of them

  /// Whether its operands are multiplied as parts of TF32 (split_product.h), and not as they are stored: of bf16 both, or of f16.
  bool is_split() const { return a.element == Element::f32 || a.element != b.element; }
  /// In 16 bytes of each operand.
  int aligned_elements() const { return std::max(chunk_elements(a.element), chunk_elements(b.element)); }
  /// Dims whose extents are multiples of a chunk where chunks of 16 bytes that follow each other in an operand lie side by side: the innermost of
  /// several that lie behind one another.
  std::vector<std::string> aligned_dims() const;
};

struct GemmAnswer {
  std::optional<GemmStage> stage;
  std::string problem;  ///< the sentence otherwise
};

GemmAnswer gemm_stage(const KernelSteps& plan, const Step& step);

}  // namespace attune::tensor_cores
