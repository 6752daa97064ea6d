#include "codegen/passes/keep_weights.h"

#include <llvm/ADT/SetVector.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "codegen/dialect/import.h"
#include "codegen/passes/rewriting.h"
#include "codegen/plan/kept_weights.h"
#include "codegen/plan/node_users.h"
#include "codegen/plan/score_masks.h"

namespace attune {
namespace {

class WeightsKeeper {
 public:
  WeightsKeeper(const Graph& graph, const std::vector<mlir::Value>& values, const KeptWeights& kept) : graph_(graph), values_(values), kept_(kept) {}

  void run() {
    mlir::Value weights = value_of(kept_.softmax);
    mlir::Operation* softmax = weights.getDefiningOp();
    mlir::OpBuilder builder(softmax->getContext());
    log_sum_exp_ = log_sum_exp_of(softmax, builder);
    builder.setInsertionPointAfter(softmax);
    const mlir::Value beside = weights_again(builder);
    mlir::Operation* user = value_of(kept_.user).getDefiningOp();
    weights.replaceUsesWithIf(beside, [&](mlir::OpOperand& use) { return use.getOwner() != user; });
    part_sums(beside);
  }

 private:
  /// Right behind the scores, since who reads one may stand before the softmax; one that is there, as a stage stores one.
  mlir::Value log_sum_exp_of(mlir::Operation* softmax, mlir::OpBuilder& builder) {
    const mlir::Value scores = softmax->getOperand(0);
    builder.setInsertionPointAfterValue(scores);
    const int asked = log_sum_exp_beside(graph_, kept_.softmax);
    if (asked < 0) return add_operation(LogSumExp{std::get<Softmax>(graph_.node(kept_.softmax).op).over}, scores, softmax, builder);
    mlir::Operation* there = value_of(asked).getDefiningOp();
    if (&*builder.getInsertionPoint() != there) there->moveBefore(builder.getInsertionBlock(), builder.getInsertionPoint());
    return value_of(asked);
  }

  /// exp(score - log_sum_exp), 0 where the score is hidden, with products and sums of its own. Masks are put on the weights, so that blocks which
  /// they hide are left out.
  mlir::Value weights_again(mlir::OpBuilder& builder) {
    copies_.clear();
    const auto add = [&](const AnyOp& op, mlir::ValueRange operands) { return add_operation(op, operands, log_sum_exp_.getDefiningOp(), builder); };
    const Node& softmax = graph_.node(kept_.softmax);
    PeeledScore peeled = peel_masks(graph_, softmax.inputs[0]);
    if (graph_.node(peeled.score).type.dims != softmax.type.dims) peeled = {softmax.inputs[0], {}};  // the mask gives the scores a dim
    const mlir::Value nothing = add(Constant{-std::numeric_limits<double>::infinity(), Kind::real}, {}), zero = add(Constant{0, Kind::real}, {});
    const mlir::Value p = add(Exp{}, add(Subtract{}, {copy_of(peeled.score, builder), log_sum_exp_}));
    mlir::Value weights = add(Select{}, {add(Equal{}, {log_sum_exp_, nothing}), zero, p});
    for (const MaskPredicate& mask : llvm::reverse(peeled.predicates)) {
      const mlir::Value predicate = value_of(mask.node);
      weights = add(Select{}, mask.is_hiding ? std::array{predicate, zero, weights} : std::array{predicate, weights, zero});
    }
    return weights;
  }

  /// Where sums alone read the weights, each gets some of its own: with them it is one stage, and none are stored.
  void part_sums(mlir::Value beside) {
    llvm::SetVector<mlir::Value> between;
    llvm::SetVector<mlir::Operation*> sums;
    if (!are_read_by_sums(beside, between, sums)) return;
    for (mlir::Operation* sum : sums.getArrayRef().drop_front()) {
      mlir::OpBuilder builder(sum);
      std::map<void*, mlir::Value> copies{{beside.getAsOpaquePointer(), weights_again(builder)}};
      sum->setOperand(0, copied(sum->getOperand(0), between, copies, builder));
    }
  }

  /// The sums that read the value, and what lies between; false if anything else reads it, too.
  static bool are_read_by_sums(mlir::Value value, llvm::SetVector<mlir::Value>& between, llvm::SetVector<mlir::Operation*>& sums) {
    if (!between.insert(value)) return true;
    return llvm::all_of(value.getUsers(), [&](mlir::Operation* user) {
      if (llvm::isa<GraphOp<ReduceSum>>(user)) return sums.insert(user), true;
      return is_elementwise(user) && are_read_by_sums(user->getResult(0), between, sums);
    });
  }

  /// The value with copies of what lies between.
  static mlir::Value copied(mlir::Value value, const llvm::SetVector<mlir::Value>& between, std::map<void*, mlir::Value>& copies,
                            mlir::OpBuilder& builder) {
    if (!between.contains(value)) return value;
    if (const auto copy = copies.find(value.getAsOpaquePointer()); copy != copies.end()) return copy->second;
    llvm::SmallVector<mlir::Value> operands;
    for (const mlir::Value operand : value.getDefiningOp()->getOperands()) operands.push_back(copied(operand, between, copies, builder));
    mlir::Operation* op = builder.clone(*value.getDefiningOp());
    op->setOperands(operands);
    return copies[value.getAsOpaquePointer()] = op->getResult(0);
  }

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
  mlir::Value log_sum_exp_;
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
