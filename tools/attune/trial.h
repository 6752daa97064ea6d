/// Trial: a kernel with inputs and room for outputs, for the commands that call one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/kernel.h"
#include "tools/attune/options.h"
#include "tools/measure/allowance.h"
#include "tools/measure/example.h"
#include "tools/measure/stored_array.h"

namespace attune {

/// How the outputs compare with the interpreter's; `text` says it in words. The problem: the interpreter refuses the inputs.
struct TrialVerdict {
  bool agrees = false;
  std::string text, problem;
};

struct Trial {
  Shape extents;
  std::vector<StoredArray> arrays;  ///< in the order of the call
  std::size_t input_count = 0;
  std::optional<attune_storage> products = {};  ///< what the kernel may round operands of products to
  std::vector<std::size_t> results;  ///< numbers of the arrays that a call writes: inputs that it updates, and outputs

  Result<void> call(const Kernel& kernel, Workspace* workspace = nullptr);
  /// Every byte of the outputs; what calls update is what it was before the first.
  void fill_outputs(std::byte pattern);
  const std::string& name(std::size_t array) const { return names_[array]; }
  /// What is right. The interpreter sees the inputs as they are stored, so that rounding them is not counted.
  Judge judged(const Graph& graph) const;
  TrialVerdict compare_with_interpreter(const Graph& graph) const;

 private:
  friend Trial trial_of(const Kernel&, const Shape&, const Arrays&);
  std::vector<std::string> names_;
  std::vector<StoredArray> updated_;  ///< what the first of `results` held before any call
};

/// The extents of one of the kernel's tensors; `extents` has every dim of the kernel.
std::vector<std::int64_t> extents_of(const Kernel& kernel, const attune_tensor_v1& tensor, const Shape& extents);

/// The given inputs, rounded to the kernel's storage, and outputs that hold something, so that what a kernel does not write is seen; `extents`
/// has every dim of the kernel.
Trial trial_of(const Kernel& kernel, const Shape& extents, const Arrays& inputs);

/// If a call of these extents takes more memory than the machine has, a sentence that begins with the option that gave them. `interpretations` of it
/// are made side by side, which keep values as doubles: `compared` of them to compare with a kernel (dsl/rounding.h);
/// without any only inputs and outputs are kept.
std::string memory_problem(const Graph& graph, const Shape& extents, int interpretations, std::string_view option = "--shape");
inline constexpr int compared = 1 + Rounding::fewest;

}  // namespace attune
