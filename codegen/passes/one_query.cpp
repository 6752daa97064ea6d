#include "codegen/passes/one_query.h"

#include <array>
#include <optional>

#include "codegen/dialect/extents.h"
#include "codegen/passes/rewriting.h"

namespace attune {
namespace {

/// A softmax, the matmul over its keys, and the product that its scores are made of, with the operand that has no keys.
struct Found {
  GraphOp<Softmax> softmax;
  GraphOp<Matmul> result, product;
  unsigned query = 0;
};

/// The only product of the scores, and which of its operands is the query.
bool find_product(Found& found, Name keys) {
  for (const mlir::Value value : made_of(found.softmax->getOperand(0), keys)) {
    auto product = value.getDefiningOp<GraphOp<Matmul>>();
    if (!product || !dims_of(value).has(keys)) continue;
    if (found.product) return false;
    found.product = product;
  }
  if (!found.product) return false;
  const bool is_first = !dims_of(found.product->getOperand(0)).has(keys);
  found.query = is_first ? 0 : 1;
  return is_first != !dims_of(found.product->getOperand(1)).has(keys);
}

std::optional<Found> find(GraphOp<Softmax> softmax) {
  const mlir::Value weights = softmax->getResult(0);
  if (!weights.hasOneUse()) return std::nullopt;
  Found found{softmax, llvm::dyn_cast<GraphOp<Matmul>>(*weights.user_begin()), {}};
  const Name keys = softmax.definition().over;
  if (!found.result || found.result.definition().over != Names{keys}) return std::nullopt;
  const unsigned side = found.result->getOperand(0) == weights ? 1 : 0;
  const Names of_weights = dims_of(weights), of_values = dims_of(found.result->getOperand(side));
  if (!of_weights.without(of_values).empty() || of_values.without(of_weights).size() != 1) return std::nullopt;
  return find_product(found, keys) && has_room_for_dim(softmax) ? std::optional(found) : std::nullopt;
}

class Rewriter {
 public:
  explicit Rewriter(const Found& found)
      : found_(found), builder_(found.result), one_(fresh_dim(found.result->getParentOfType<mlir::func::FuncOp>(), "one_query")) {}

  void run() {
    const mlir::Value query = found_.product->getOperand(found_.query);
    const mlir::Value zero = add_operation(Constant{0, Kind::i64}, {}, found_.product, builder_);
    const mlir::Value is_there = add_operation(GreaterEqual{}, {position(), zero}, found_.product, builder_);
    const mlir::Value wide = add_operation(Select{}, {is_there, query, query}, query.getDefiningOp() != nullptr ? query.getDefiningOp() : found_.product, builder_);
    made_[found_.product->getResult(0)] = with_operand(found_.product, found_.query, wide, builder_);
    const mlir::Value result = made(found_.result->getResult(0));
    found_.result->getResult(0).replaceAllUsesWith(add_operation(Gather{one_}, {result, zero}, found_.result, builder_));
    found_.result->erase();
  }

 private:
  mlir::Value position() {
    const TensorType type = TensorType::of(builder_.getContext(), {Kind::i64, {one_}}, {{std::string(one_), 1}}, Element::real);
    return create_operation(Index{one_}, {}, type, builder_, found_.product->getLoc())->getResult(0);
  }

  /// The value as it is made with the wide query; itself if it is not made of the product.
  mlir::Value made(mlir::Value value) {
    if (const auto known = made_.find(value); known != made_.end()) return known->second;
    mlir::Operation* op = value.getDefiningOp();
    mlir::Value result = value;
    if (op != nullptr && (is_elementwise(op) || op == found_.softmax || op == found_.result)) {
      llvm::SmallVector<mlir::Value> operands;
      for (const mlir::Value operand : op->getOperands()) operands.push_back(made(operand));
      if (!llvm::equal(operands, op->getOperands())) result = add_operation(*op_of(op), operands, op, builder_);
    }
    return made_[value] = result;
  }

  Found found_;
  mlir::OpBuilder builder_;
  const Name one_;
  llvm::DenseMap<mlir::Value, mlir::Value> made_;
};

/// Scores that nothing reads any more.
void erase_unread(mlir::func::FuncOp function) {
  for (mlir::Operation& op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (op_of(&op) && op.use_empty()) op.erase();
}

/// One after the other: the scores of one may be made of the result of another.
void one_query_in(mlir::func::FuncOp function) {
  record_derivations(function, derivations_of(function));
  const auto first = [&] {
    std::optional<Found> found;
    function.walk([&](GraphOp<Softmax> softmax) {
      found = find(softmax);
      return found ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
    });
    return found;
  };
  while (const std::optional<Found> found = first()) {
    Rewriter(*found).run();
    erase_unread(function);
  }
}

}  // namespace

void one_query(mlir::ModuleOp module) {
  for (mlir::func::FuncOp function : module.getOps<mlir::func::FuncOp>()) one_query_in(function);
}

}  // namespace attune
