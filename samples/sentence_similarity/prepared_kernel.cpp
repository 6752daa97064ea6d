#include "samples/sentence_similarity/prepared_kernel.h"

#include "runtime/threads.h"

namespace sentence_similarity {

using attune::Result;
using attune::Tensor;
using attune::Workspace;

Result<PreparedKernel> PreparedKernel::of(const attune_kernel_v1& manifest) {
  auto kernel = attune::Kernel::from(manifest);
  if (!kernel) return kernel.error();
  return PreparedKernel(std::move(kernel).value());
}

Result<void> PreparedKernel::call(std::initializer_list<Tensor> tensors) {
  const std::span<const Tensor> arguments(tensors.begin(), tensors.size());
  std::vector<std::int64_t> extents;
  for (const Tensor& tensor : arguments) extents.insert(extents.end(), tensor.extents.begin(), tensor.extents.begin() + tensor.rank);
  const int threads = attune::num_threads();
  if (extents == extents_ && threads == threads_) return kernel_.call(arguments, workspace_.get());

  Workspace measuring;
  if (const auto done = kernel_.call(arguments, &measuring); !done) return done;
  memory_.resize(measuring.peak_bytes() * static_cast<std::size_t>(threads));  // n threads need at most n times what one does
  workspace_ = std::make_unique<Workspace>(memory_);
  extents_ = std::move(extents);
  threads_ = threads;
  return {};
}

}  // namespace sentence_similarity
