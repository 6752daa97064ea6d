/// A kernel with the tensors of a call, for tests that call it often under different conditions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tests/codegen/kernel_case.h"

namespace attune {

class KernelCall {
 public:
  struct Choice {
    std::string variant;
    std::vector<std::string> settings;
    std::string shape, types = "f32", target = "host";
    bool is_of_shape = true;  ///< compiled for these extents alone, and so for calls of one size
  };
  explicit KernelCall(const Choice& choice);
  /// Of any graph without a problem, which outlives this.
  KernelCall(const Graph& graph, const std::string& name, const std::string& shape);

  /// The sentence; empty where the call succeeded.
  std::string operator()(Workspace* workspace = nullptr);
  /// How the results differ from the interpreter's; empty if they do not.
  std::string difference() const;
  /// Calls it with results that hold something else before: its sentence, or whether it gives other bits than the first call without one.
  std::string problem_of_next();

  const KernelCase& kernel_case() const { return case_; }
  const Kernel& kernel() const { return *kernel_; }
  const std::vector<Tensor>& tensors() const { return tensors_; }
  /// "causal of queries=3"
  const std::string& name() const { return name_; }

 private:
  void draw(const std::string& shape);

  std::string name_;
  KernelCase case_;
  const Kernel* kernel_ = nullptr;  // of the case
  Trial trial_;
  std::vector<Tensor> tensors_;
  std::vector<std::vector<std::byte>> results_;  // of the first call without a sentence
};

/// Tiny calls, few queries, small and large tiles; block ranges of a mask in memory, products direct and packed, row_softmax, pointwise,
/// bf16.
const std::vector<KernelCall::Choice>& calls_of_every_kind();

}  // namespace attune
