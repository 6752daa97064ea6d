/// A product as tensor cores compute it: where its operands lie in memory, and what is made of the sums; or why it cannot be.
#pragma once

#include <optional>

#include "codegen/tensor_cores/operand.h"

namespace attune::tensor_cores {

/// out[batch.., rows.., columns..] = finish(factor * sum over `over` of a * b); a has batch, rows and over, b has batch, columns and over.
struct GemmStage {
  Element element = Element::bf16;  ///< of both operands
  Operand a, b;
  std::vector<std::string> batch, rows, columns, over;  ///< in the order of the operand's dims in memory, outermost first
  int matmul = -1, result = -1;                         ///< the sums, and what is stored of them

  /// Dims whose extents are multiples of 8 where chunks of 8 elements that follow each other in an operand lie side by side: the innermost of several
  /// that lie behind one another.
  std::vector<std::string> aligned_dims() const;
};

struct GemmAnswer {
  std::optional<GemmStage> stage;
  std::string problem;  ///< the sentence otherwise
};

GemmAnswer gemm_stage(const KernelSteps& plan, const Step& step);

}  // namespace attune::tensor_cores
