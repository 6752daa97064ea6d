#include "codegen/passes/form_stages.h"

#include <fmt/format.h>
#include <mlir/IR/IRMapping.h>

#include "codegen/dialect/import.h"
#include "codegen/plan/stage_plan.h"

namespace attune {
namespace {

/// The stages of one function. `nodes_[n]` is the value of the graph's node n, `stored_[n]` the result of the stage that
/// stores it (an argument stores itself), `copies_[n]` a copy of an argument that is returned as it is.
class StageFormer {
 public:
  StageFormer(mlir::func::FuncOp function, const std::vector<mlir::Value>& nodes)
      : body_(function.getBody().front()), nodes_(nodes), builder_(body_.getTerminator()), stored_(nodes.size()), copies_(nodes.size()) {
    for (std::size_t n = 0; n < nodes.size(); ++n)
      if (llvm::isa<mlir::BlockArgument>(nodes[n])) stored_[n] = nodes[n];
  }

  void form(const StagePlan& plan) {
    llvm::SmallVector<mlir::Value> operands;
    for (int input : plan.inputs) operands.push_back(stored_[static_cast<std::size_t>(input)]);
    llvm::SmallVector<mlir::Value> results;
    llvm::SmallVector<mlir::Type> types;
    for (int result : plan.results) {
      results.push_back(node(result));
      types.push_back(node(result).getType());
    }
    const mlir::NamedAttribute reason = builder_.getNamedAttr("reason", builder_.getStringAttr(plan.reason));
    StageOp stage = StageOp::create(builder_, results[0].getLoc(), plan.kind(), operands, types, builder_.getDictionaryAttr(reason));
    mlir::IRMapping inside;
    for (const auto& [i, input] : llvm::enumerate(plan.inputs)) inside.map(node(input), stage.body().getArgument(static_cast<unsigned>(i)));
    mlir::OpBuilder body = mlir::OpBuilder::atBlockEnd(&stage.body());
    for (int n : plan.nodes) body.clone(*node(n).getDefiningOp(), inside);
    llvm::SmallVector<mlir::Value> yielded;
    for (const mlir::Value result : results) yielded.push_back(inside.lookup(result));
    YieldOp::create(body, results[0].getLoc(), yielded);
    std::vector<mlir::Value>& kept = plan.nodes.empty() ? copies_ : stored_;
    for (const auto& [i, result] : llvm::enumerate(plan.results)) kept[static_cast<std::size_t>(result)] = stage->getResult(static_cast<unsigned>(i));
  }

  /// Lets the function return what the stages store, and removes what they were made from.
  void finish() {
    mlir::Operation* end = body_.getTerminator();
    for (mlir::OpOperand& operand : end->getOpOperands()) {
      const std::size_t n = number_of(operand.get());
      operand.set(copies_[n] ? copies_[n] : stored_[n]);
    }
    llvm::SmallVector<mlir::Operation*> replaced;
    for (mlir::Operation& op : body_.without_terminator())
      if (!llvm::isa<StageOp>(op)) replaced.push_back(&op);
    for (mlir::Operation* op : llvm::reverse(replaced)) op->erase();  // users before what they use
  }

 private:
  mlir::Value node(int n) const { return nodes_[static_cast<std::size_t>(n)]; }
  std::size_t number_of(mlir::Value value) const { return static_cast<std::size_t>(llvm::find(nodes_, value) - nodes_.begin()); }

  mlir::Block& body_;
  const std::vector<mlir::Value>& nodes_;
  mlir::OpBuilder builder_;
  std::vector<mlir::Value> stored_, copies_;
};

}  // namespace

std::string form_stages(mlir::ModuleOp module, bool fuse) {
  for (mlir::func::FuncOp function : module.getOps<mlir::func::FuncOp>()) {
    if (!function.getBody().front().getOps<StageOp>().empty())
      return fmt::format("form stages: '{}' has stages already; text without attn.stage is right", function.getName().str());
    record_derivations(function, derivations_of(function));
    const Graph graph = to_graph(function);
    if (std::string problem = problem_of(graph); !problem.empty()) return problem;
    const std::vector<mlir::Value> nodes = values_of(graph, function);
    StageFormer former(function, nodes);
    for (const StagePlan& plan : plan_stages(graph, fuse)) former.form(plan);
    former.finish();
  }
  return {};
}

}  // namespace attune
