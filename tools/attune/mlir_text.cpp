#include "tools/attune/mlir_text.h"

#include "codegen/passes/compile.h"

namespace attune {

MlirText mlir_text(const Prepared& prepared, bool is_staged) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const LoadedGraph& graph = prepared.graph;
  StagedModule staged =
      compile_to_stages(graph.graph, graph.name, graph.parameters, prepared.staging, context, is_staged ? Until::stages : Until::imported);
  if (!staged.problem.empty()) return {{}, staged.problem};
  MlirText answer;
  llvm::raw_string_ostream stream(answer.text);
  (*staged.module)->print(stream);
  return answer;
}

}  // namespace attune
