/// PreparedCall: a right call of a kernel that was written by hand, every tensor between guard pages, for trials that then spoil it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/attune.h"
#include "runtime/kernel.h"
#include "tests/hostile/guarded_memory.h"
#include "tests/hostile/random.h"

namespace attune {

/// One tensor of a call as a caller keeps it.
struct CallTensor {
  std::string name;
  attune_storage storage = attune_f32;
  bool is_output = false;
  std::vector<std::int64_t> extents, strides;
  GuardedMemory memory;

  bool is_empty() const { return memory.bytes() == 0; }
};

/// The call's inputs are all ones; outputs are filled with a byte.
class PreparedCall {
 public:
  static constexpr std::byte before{0x5a};

  /// With extents of 0 to 9 for free dims; contiguous.
  PreparedCall(const attune_kernel_v5& manifest, Random& random);

  std::vector<CallTensor>& tensors() { return tensors_; }
  const attune_kernel_v5& manifest() const { return *manifest_; }
  std::int64_t extent_of(std::string_view dim) const;

  /// As the two languages take them; they point to what tensors() holds.
  std::vector<attune_tensor> for_c(bool by_name) const;
  std::vector<Tensor> for_cpp() const;

  /// Which output is not what a kernel of tests/runtime/kernels gives for ones, in words; empty if none.
  std::string wrong_output() const;
  /// Which output was written, in words; empty if none.
  std::string written_output() const;

 private:
  const attune_kernel_v5* manifest_;
  std::vector<std::int64_t> extents_;  ///< of all dims
  std::vector<CallTensor> tensors_;
};

}  // namespace attune
