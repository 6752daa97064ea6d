/// A kernel with memory of its own for what it stores between its stages.
#pragma once

#include <memory>
#include <vector>

#include "runtime/kernel.h"

namespace sentence_similarity {

/// The first call at some extents measures how much memory the kernel needs; the calls after it at the same extents allocate nothing.
/// (Panels of a few MB from the heap are fresh pages in every call: a third of the time of the encoder's feed-forward block.)
/// One call at a time.
class PreparedKernel {
 public:
  static attune::Result<PreparedKernel> of(const attune_kernel_v1& manifest);

  /// As Kernel::call: inputs and outputs in the order of the manifest.
  attune::Result<void> call(std::initializer_list<attune::Tensor> tensors);

 private:
  explicit PreparedKernel(attune::Kernel kernel) : kernel_(std::move(kernel)) {}

  attune::Kernel kernel_;
  std::vector<std::int64_t> extents_;  ///< of all tensors, at which the memory is enough
  int threads_ = 0;                    ///< and how many of them
  std::vector<std::byte> memory_;
  std::unique_ptr<attune::Workspace> workspace_;
};

}  // namespace sentence_similarity
