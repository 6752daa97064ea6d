#include "codegen/passes/part_log_sum_exp.h"

#include <limits>

#include "codegen/dialect/import.h"
#include "codegen/passes/rewriting.h"
#include "codegen/plan/stage_plan.h"

namespace attune {
namespace {

/// The floor is for rows of -inf, from which a number is subtracted; NaN and +inf come through.
void part(mlir::Operation* op, Name over) {
  mlir::OpBuilder builder(op);
  const auto add = [&](const AnyOp& made, mlir::ValueRange operands) { return add_operation(made, operands, op, builder); };
  const mlir::Value x = op->getOperand(0), lowest = add(Constant{std::numeric_limits<float>::lowest(), Kind::real}, {});
  const mlir::Value greatest = add(Maximum{}, {add(ReduceMax{{over}}, {x}), lowest});
  const mlir::Value sum = add(ReduceSum{{over}}, {add(Exp{}, add(Subtract{}, {x, greatest}))});
  op->getResult(0).replaceAllUsesWith(add(Add{}, {greatest, add(Log{}, {sum})}));
  op->erase();
}

}  // namespace

void part_log_sum_exp(mlir::ModuleOp module, bool fuse) {
  for (mlir::func::FuncOp function : module.getOps<mlir::func::FuncOp>()) {
    if (function.getBody().front().getOps<GraphOp<LogSumExp>>().empty()) continue;  // most have none: no plan is made for them
    record_derivations(function, derivations_of(function));
    const Graph graph = to_graph(function);
    if (!graph.problem().empty()) continue;  // form_stages says it
    const std::vector<mlir::Value> values = values_of(graph, function);
    for (const StagePlan& stage : plan_stages(graph, fuse)) {
      const auto* roles = std::get_if<ReduceRoles>(&stage.roles);
      const auto* log_sum_exp = roles == nullptr ? nullptr : std::get_if<LogSumExp>(&graph.node(roles->reduction).op);
      if (log_sum_exp != nullptr) part(values[static_cast<std::size_t>(roles->reduction)].getDefiningOp(), log_sum_exp->over);
    }
  }
}

}  // namespace attune
