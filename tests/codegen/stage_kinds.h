/// What stages a graph becomes.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "codegen/dialect/import.h"
#include "codegen/passes/compile.h"

namespace attune {

/// The kinds of the stages that the whole compiler makes.
inline std::vector<std::string> kinds_of(const Graph& graph) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const StagedModule staged = compile_to_stages(graph, "graph", "", {}, context);
  REQUIRE(staged.problem == "");
  std::vector<std::string> kinds;
  for (StageOp stage : function_of(*staged.module).getBody().front().getOps<StageOp>()) kinds.push_back(stage.kind().str());
  return kinds;
}

}  // namespace attune
