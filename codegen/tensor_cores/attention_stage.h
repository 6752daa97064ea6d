/// An online softmax as tensor cores compute it: where its operands lie in memory, and what is computed of each score; or why it cannot be.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/plan/score_masks.h"
#include "codegen/steps/steps.h"
#include "codegen/tensor_cores/operand.h"

namespace attune::tensor_cores {

/// out[batch.., queries, value_depth] = sum_j weight(softmax_j(score(factor * query . key))) * value
struct AttentionStage {
  Element element = Element::bf16;  ///< of query, key and value
  Operand query, key, value;
  std::vector<std::string> batch;  ///< dims of the result but queries and value_depth
  std::string queries, keys, over, value_depth;
  std::int64_t depth = 0, value_columns = 0;  ///< the extents of over and value_depth
  int product = -1, score = -1;  ///< the matmul, and what it becomes below the masks, but for a factor
  double score_factor = 1;       ///< above 0
  int cap = -1;                  ///< the one tanh below the score through which the product passes into it, if it passes through one alone
  std::vector<MaskPredicate> masks;
  int softmax = -1, weights = -1;  ///< the softmax, and the operand of the second matmul that it becomes
  int matmul = -1, result = -1;    ///< the second matmul, and what is stored of it
  bool has_result_rows = false;    ///< value_depth runs side by side in the result's memory
  bool has_log_sum_exp = false;
  bool reads_for_pairs = false;  ///< a score, a weight or a mask depends on a tensor that has more dims than `batch`: something is read for each pair

  /// Whether rows of operands may all begin at multiples of 16 bytes; and the tensors of which that is asked in a call, as Launch counts them.
  bool may_be_aligned() const;
  std::vector<std::size_t> aligned_tensors(const Step& step) const {
    std::vector<std::size_t> tensors{query.input, key.input, value.input};
    if (has_result_rows) tensors.push_back(step.inputs.size());
    return tensors;
  }
};

struct AttentionAnswer {
  std::optional<AttentionStage> stage;
  std::string problem;  ///< the sentence otherwise
};

AttentionAnswer attention_stage(const KernelSteps& plan, const Step& step);

}  // namespace attune::tensor_cores
