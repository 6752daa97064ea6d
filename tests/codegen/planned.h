/// The steps of a graph's kernel for tests.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "codegen/dialect/import.h"
#include "codegen/passes/compile.h"
#include "codegen/steps/steps.h"

namespace attune {

/// A plan with what its names live in; std::invalid_argument where the compiler refuses the graph.
struct Planned {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  StagedModule staged;
  KernelSteps plan;

  explicit Planned(const Graph& graph, const StageOptions& options = {}) : staged(compile_to_stages(graph, "g", "", options, context)) {
    if (!staged.problem.empty()) throw std::invalid_argument(staged.problem);
    plan = kernel_steps(function_of(*staged.module));
  }
};

/// Each step as "gemm x wq -> step0".
inline std::vector<std::string> text_of(const KernelSteps& plan) {
  std::vector<std::string> lines;
  for (const Step& step : plan.steps) {
    std::string line(step.kind());
    for (const std::size_t input : step.inputs) line += " " + plan.tensors[input].name;
    line += " ->";
    for (const std::size_t output : step.outputs) line += " " + plan.tensors[output].name;
    lines.push_back(std::move(line));
  }
  return lines;
}

inline std::vector<std::string> text_of(const Graph& graph, const StageOptions& options = {}) { return text_of(Planned(graph, options).plan); }

}  // namespace attune
