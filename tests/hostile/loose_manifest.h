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

  const attune_kernel_v5& manifest() const { return kernel_; }
  /// Changes one field to a number that is often wrong, or a pointer to null.
  void change(Random& random);

 private:
  static constexpr std::size_t room = 64, most_tensors = ATTUNE_MAX_TENSORS + ATTUNE_MAX_STORED + ATTUNE_MAX_VIEWS;
  void define_dims();
  void define_tensors();
  void define_views();
  void define_sweeps();
  void define_steps();
  void change_kernel(Random& random);
  void take_table(std::size_t number);
  void change_dim(attune_dim_v1& dim, Random& random);
  void change_tensor(attune_tensor_v1& tensor, Random& random);
  void change_view(attune_view_v1& view, std::size_t number, Random& random);
  void change_sweep(Random& random);
  void change_step(std::size_t number, Random& random);
  void change_code(std::size_t step, attune_code_v3& code, Random& random);

  std::array<std::array<std::int32_t, room>, room> operands_{};
  std::array<std::array<std::int32_t, room>, most_tensors> tensor_dims_{};
  std::array<attune_dim_v1, room> dims_{};
  std::array<attune_tensor_v1, most_tensors> tensors_{};
  /// Of the two steps that there are.
  struct StepTables {
    std::array<std::int32_t, most_tensors> tensors{};
    std::array<std::int32_t, room> dims{};
    std::array<attune_code_v3, room> codes{};
    std::array<std::array<attune_condition_v1, room>, room> conditions{};
  };
  std::array<StepTables, 2> tables_{};
  std::array<attune_step_v1, ATTUNE_MAX_STEPS> steps_{};
  std::array<std::array<std::int32_t, room>, ATTUNE_MAX_VIEWS> view_dims_{};
  std::array<std::array<std::int32_t, room>, ATTUNE_MAX_VIEWS> view_parts_{};
  std::array<attune_view_v1, ATTUNE_MAX_VIEWS> views_{};
  std::array<std::int32_t, room> blocks_{}, starts_{};
  std::array<attune_sweep_v1, ATTUNE_MAX_SWEEPS> sweeps_{};
  attune_kernel_v5 kernel_{};
};

}  // namespace attune
