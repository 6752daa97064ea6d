/// The steps of a graph's kernel for tests.
#pragma once

#include <stdexcept>

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

}  // namespace attune
