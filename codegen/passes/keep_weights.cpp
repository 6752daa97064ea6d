#include "codegen/passes/keep_weights.h"

#include <algorithm>
#include <limits>
#include <map>

#include "codegen/dialect/import.h"
#include "codegen/passes/rewriting.h"
#include "codegen/plan/kept_weights.h"

namespace attune {
namespace {

class WeightsKeeper {
 public:
  WeightsKeeper(const Graph& graph, const std::vector<mlir::Value>& values, const KeptWeights& kept) : graph_(graph), values_(values), kept_(kept) {}

  void run() {
    mlir::Value weights = value_of(kept_.softmax);
    mlir::Operation* softmax = weights.getDefiningOp();
    mlir::OpBuilder builder(softmax->getContext());
    builder.setInsertionPointAfter(softmax);
    const auto add = [&](const AnyOp& op, mlir::ValueRange operands) { return add_operation(op, operands, softmax, builder); };
    const mlir::Value score = softmax->getOperand(0);
    const mlir::Value l = add(LogSumExp{std::get<Softmax>(graph_.node(kept_.softmax).op).over}, score);
    const mlir::Value nothing = add(Constant{-std::numeric_limits<double>::infinity(), Kind::real}, {}), zero = add(Constant{0, Kind::real}, {});
    const mlir::Value p = add(Exp{}, add(Subtract{}, {copy_of(graph_.node(kept_.softmax).inputs[0], builder), l}));
    const mlir::Value beside = add(Select{}, {add(Equal{}, {l, nothing}), zero, p});
    mlir::Operation* user = value_of(kept_.user).getDefiningOp();
    weights.replaceUsesWithIf(beside, [&](mlir::OpOperand& use) { return use.getOwner() != user; });
  }

 private:
  mlir::Value value_of(int node) const { return values_[static_cast<std::size_t>(node)]; }

  bool holds_products(int node) const {
    return std::ranges::any_of(kept_.products, [&](int product) { return reaches(graph_, node, product); });
  }

  /// The value with products and sums of its own.
  mlir::Value copy_of(int node, mlir::OpBuilder& builder) {
    if (!holds_products(node)) return value_of(node);
    const auto [copy, is_new] = copies_.try_emplace(node);
    if (!is_new) return copy->second;
    llvm::SmallVector<mlir::Value> operands;
    for (const int operand : graph_.node(node).operands()) operands.push_back(copy_of(operand, builder));
    mlir::Operation* op = builder.clone(*value_of(node).getDefiningOp());
    op->setOperands(operands);
    return copies_[node] = op->getResult(0);
  }

  const Graph& graph_;
  const std::vector<mlir::Value>& values_;
  const KeptWeights& kept_;
  std::map<int, mlir::Value> copies_;
};

}  // namespace

void keep_weights(mlir::ModuleOp module) {
  for (mlir::func::FuncOp function : module.getOps<mlir::func::FuncOp>()) {
    record_derivations(function, derivations_of(function));
    const Graph graph = to_graph(function);
    if (!graph.problem().empty()) continue;  // form_stages says it
    const std::vector<mlir::Value> values = values_of(graph, function);
    for (const KeptWeights& kept : weights_kept_beside(graph)) WeightsKeeper(graph, values, kept).run();
  }
}

}  // namespace attune
