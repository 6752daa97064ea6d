/// LooseManifest: a manifest whose every field can be changed, for trials of what checks it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/abi.h"
#include "tests/hostile/random.h"

namespace attune {

/// Tables have room for as many entries as a count may say; those beyond the first are zero. Its code reads every element of every input
/// and writes every element of every output of the buffers that it is given, and nothing else.
class LooseManifest {
 public:
  LooseManifest();
  LooseManifest(const LooseManifest&) = delete;

  const attune_kernel_v1& manifest() const { return kernel_; }
  /// Changes one field to a number that is often wrong, or a pointer to null.
  void change(Random& random);

 private:
  static constexpr std::size_t room = 64;
  void change_kernel(Random& random);
  void change_dim(attune_dim_v1& dim, Random& random);
  void change_tensor(attune_tensor_v1& tensor, Random& random);
  void change_code(attune_code_v1& code, Random& random);

  std::array<std::array<std::int32_t, room>, room> operands_{}, tensor_dims_{};
  std::array<std::array<attune_condition_v1, room>, room> conditions_{};
  std::array<attune_dim_v1, room> dims_{};
  std::array<attune_tensor_v1, room> tensors_{};
  std::array<attune_code_v1, room> codes_{};
  attune_kernel_v1 kernel_{};
};

}  // namespace attune
