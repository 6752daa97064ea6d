#include "codegen/passes/own_scores.h"

#include <mlir/IR/IRMapping.h>

#include "codegen/dialect/import.h"
#include "codegen/passes/rewriting.h"
#include "codegen/plan/shared_scores.h"

namespace attune {
namespace {

/// Lets the reader read copies of the nodes, which nothing else reads.
void copy(const SharedScores& shared, const std::vector<mlir::Value>& values) {
  const auto op_of_node = [&](int node) { return values[static_cast<std::size_t>(node)].getDefiningOp(); };
  mlir::Operation* reader = op_of_node(shared.reader);
  mlir::OpBuilder builder(reader);
  mlir::IRMapping copies;
  for (const int node : shared.nodes) builder.clone(*op_of_node(node), copies);  // operands have smaller numbers
  for (mlir::OpOperand& operand : reader->getOpOperands()) operand.set(copies.lookupOrDefault(operand.get()));
}

}  // namespace

void own_scores(mlir::ModuleOp module) {
  for (mlir::func::FuncOp function : module.getOps<mlir::func::FuncOp>()) {
    record_derivations(function, derivations_of(function));
    llvm::DenseSet<mlir::Value> done;
    while (true) {
      const Graph graph = to_graph(function);
      if (!graph.problem().empty()) break;  // form_stages says it
      const std::optional<SharedScores> shared = shared_scores(graph);
      if (!shared) break;
      const std::vector<mlir::Value> values = values_of(graph, function);
      if (!done.insert(values[static_cast<std::size_t>(shared->reader)]).second) break;
      copy(*shared, values);
    }
  }
}

}  // namespace attune
