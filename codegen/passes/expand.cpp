#include "codegen/passes/expand.h"

#include <fmt/format.h>

#include "codegen/dialect/import.h"

namespace attune {
namespace {

bool is_composite(mlir::Operation* operation) {
  const std::optional<AnyOp> op = op_of(operation);
  return op && std::visit([]<class D>(const D&) { return CompositeOp<D>; }, *op);
}

/// What the composite means, as a graph whose inputs are its operands; the last node is the result.
Graph meaning_of(mlir::Operation* operation) {
  Graph graph;
  llvm::SmallVector<Value> operands;
  for (const auto& [i, type] : llvm::enumerate(operation->getOperandTypes())) {
    const Type operand = type_of(type);
    for (Name dim : operand.dims) graph.dim(dim);
    const auto name = mlir::StringAttr::get(operation->getContext(), fmt::format("a{}", i));
    operands.push_back(graph.input(name.getValue(), operand.dims, operand.kind));
  }
  const Value result = std::visit(
      [&](const auto& op) {
        const std::span<const Value> in(operands.data(), operands.size());
        if constexpr (requires { op.expand(in, Here::current()); }) return op.expand(in, Here::current());
        else return in[0];
      },
      *op_of(operation));
  graph.output("result", result, dims_of(result));
  return graph;
}

}  // namespace

void expand(mlir::ModuleOp module) {
  for (mlir::func::FuncOp function : module.getOps<mlir::func::FuncOp>()) {
    const KnownExtents known = known_extents(function);
    for (bool is_done = false; !is_done;) {  // what a composite expands to may be composites
      llvm::SmallVector<mlir::Operation*> composites;
      function.walk([&](mlir::Operation* op) {
        if (is_composite(op)) composites.push_back(op);
      });
      for (mlir::Operation* op : composites) {
        const Graph graph = meaning_of(op);
        mlir::OpBuilder builder(op);
        const Element reals = llvm::cast<TensorType>(op->getResult(0).getType()).element() == Element::real ? Element::real : Element::f32;
        const auto values = import_nodes(graph, op->getOperands(), known, reals, builder, op->getLoc());
        op->getResult(0).replaceAllUsesWith(values[static_cast<std::size_t>(graph.outputs()[0].node)]);
        op->erase();
      }
      is_done = composites.empty();
    }
  }
}

}  // namespace attune
