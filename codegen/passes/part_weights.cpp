#include "codegen/passes/part_weights.h"

#include <array>
#include <optional>

#include "codegen/passes/rewriting.h"

namespace attune {
namespace {

using mlir::PatternRewriter;

/// The value is made of a softmax over the dim by elementwise operations alone.
bool is_made_of_softmax(mlir::Value value, Name over) {
  return llvm::any_of(made_of(value), [&](mlir::Value part) {
    auto softmax = part.getDefiningOp<GraphOp<Softmax>>();
    return softmax && softmax.definition().over == over;
  });
}

/// Weights, and a factor of all of a row of theirs; null if there is none.
struct FactoredWeights {
  mlir::Value weights, factor;
};
FactoredWeights factored(mlir::Value value, Name over) {
  auto product = value.getDefiningOp<GraphOp<Multiply>>();
  if (!product) return {value, {}};
  for (const unsigned i : {0u, 1u}) {
    const mlir::Value weights = product->getOperand(i), factor = product->getOperand(1 - i);
    const Names dims = dims_of(factor);
    if (!dims.has(over) && dims.without(dims_of(weights)).empty() && is_made_of_softmax(weights, over)) return {weights, factor};
  }
  return {value, {}};
}

/// The factor, or 1 where the dim has no positions: a sum over nothing is 0, whatever its terms would be divided by.
mlir::Value factor_of_some(mlir::Value factor, Name over, mlir::Operation* like, PatternRewriter& rewriter) {
  const mlir::Value one = add_operation(Constant{1, Kind::real}, {}, like, rewriter);
  return add_operation(Select{}, {has_positions(over, like, rewriter), factor, one}, like, rewriter);
}

struct SumOfWeights : mlir::OpRewritePattern<GraphOp<Matmul>> {
  using OpRewritePattern::OpRewritePattern;
  mlir::LogicalResult matchAndRewrite(GraphOp<Matmul> op, PatternRewriter& rewriter) const override {
    const Matmul matmul = op.definition();
    if (matmul.over.size() != 1) return mlir::failure();
    for (const unsigned i : {0u, 1u}) {
      mlir::Operation* sum = op->getOperand(i).getDefiningOp();
      if (sum == nullptr || !llvm::isa<GraphOp<Subtract>, GraphOp<Add>>(sum) || !sum->hasOneUse()) continue;
      if (!llvm::all_of(sum->getOperands(), [&](mlir::Value term) { return is_made_of_softmax(term, matmul.over[0]); })) continue;
      // The first gives the order of the result's dims.
      const Names dims = dims_of(sum->getResult(0));
      if (dims_of(factored(sum->getOperand(0), matmul.over[0]).weights) != dims || dims_of(sum->getOperand(1)).size() != dims.size()) continue;
      llvm::SmallVector<mlir::Value> products;
      for (const mlir::Value term : sum->getOperands()) {
        const auto [weights, factor] = factored(term, matmul.over[0]);
        products.push_back(with_operand(op, i, weights, rewriter));
        if (factor) products.back() = add_operation(Multiply{}, {products.back(), factor_of_some(factor, matmul.over[0], op, rewriter)}, op, rewriter);
      }
      rewriter.replaceOp(op, add_operation(*op_of(sum), products, op, rewriter));
      return mlir::success();
    }
    return mlir::failure();
  }
};

/// A sum over a dim of weights, as of the heads of each pair.
struct SumOverWeights : mlir::OpRewritePattern<GraphOp<Matmul>> {
  using OpRewritePattern::OpRewritePattern;
  mlir::LogicalResult matchAndRewrite(GraphOp<Matmul> op, PatternRewriter& rewriter) const override {
    const Matmul matmul = op.definition();
    if (matmul.over.size() != 1) return mlir::failure();
    for (const unsigned i : {0u, 1u}) {
      auto sum = op->getOperand(i).getDefiningOp<GraphOp<ReduceSum>>();
      if (!sum || !sum->hasOneUse() || !is_made_of_softmax(sum->getOperand(0), matmul.over[0])) continue;
      const Names summed = sum.definition().over, values = dims_of(op->getOperand(1 - i));
      std::array<Type, 2> types{type_of(op->getOperand(0).getType()), type_of(op->getOperand(1).getType())};
      types[i] = type_of(sum->getOperand(0).getType());
      // There may be too many dims before the sum.
      const std::optional<Type> product = type_after(matmul, types);
      if (values.without(summed) != values || !product || product->dims.without(summed) != dims_of(op->getResult(0))) continue;
      rewriter.replaceOp(op, add_operation(ReduceSum{summed}, {with_operand(op, i, sum->getOperand(0), rewriter)}, op, rewriter));
      return mlir::success();
    }
    return mlir::failure();
  }
};

/// The only product that the value is made of by elementwise operations, or null.
mlir::Operation* product_of(mlir::Value value) {
  llvm::SmallPtrSet<mlir::Operation*, 2> products;
  for (const mlir::Value part : made_of(value))
    if (auto product = part.getDefiningOp<GraphOp<Matmul>>()) products.insert(product);
  return products.size() == 1 ? *products.begin() : nullptr;
}

/// One value is a function of the product that the other is one of.
bool share_product(mlir::Value a, mlir::Value b) {
  mlir::Operation* product = product_of(a);
  return product != nullptr && product == product_of(b);
}

/// The value is made of the sum of the weights over the dim by elementwise operations, or of another function of their product.
bool is_made_of_total(mlir::Value value, mlir::Value weights, Name over) {
  return llvm::any_of(made_of(value), [&](mlir::Value part) {
    auto sum = part.getDefiningOp<GraphOp<ReduceSum>>();
    return sum && sum.definition().over == Names{over} && (sum->getOperand(0) == weights || share_product(sum->getOperand(0), weights));
  });
}

/// The weights of a product or quotient with a factor of each row that is made of their total.
std::optional<FactoredWeights> divided_by_total(mlir::Operation* op, Name over) {
  if (op == nullptr || !op->hasOneUse() || !llvm::isa<GraphOp<Multiply>, GraphOp<Divide>>(op)) return std::nullopt;
  for (const unsigned i : {0u, 1u}) {
    if (i == 1 && llvm::isa<GraphOp<Divide>>(op)) break;
    const mlir::Value weights = op->getOperand(i), factor = op->getOperand(1 - i);
    const Names dims = dims_of(factor);
    if (!dims.has(over) && dims.without(dims_of(weights)).empty() && is_made_of_total(factor, weights, over)) return FactoredWeights{weights, factor};
  }
  return std::nullopt;
}

struct NormalisedWeights : mlir::OpRewritePattern<GraphOp<Matmul>> {
  using OpRewritePattern::OpRewritePattern;
  mlir::LogicalResult matchAndRewrite(GraphOp<Matmul> op, PatternRewriter& rewriter) const override {
    const Matmul matmul = op.definition();
    if (matmul.over.size() != 1) return mlir::failure();
    for (const unsigned i : {0u, 1u}) {
      mlir::Operation* normalised = op->getOperand(i).getDefiningOp();
      const std::optional<FactoredWeights> parts = divided_by_total(normalised, matmul.over[0]);
      if (!parts || dims_of(parts->weights) != dims_of(op->getOperand(i))) continue;
      const mlir::Value product = with_operand(op, i, parts->weights, rewriter);
      const mlir::Value factor = factor_of_some(parts->factor, matmul.over[0], op, rewriter);
      rewriter.replaceOp(op, add_operation(*op_of(normalised), {product, factor}, op, rewriter));
      return mlir::success();
    }
    return mlir::failure();
  }
};

}  // namespace

void add_weight_patterns(mlir::RewritePatternSet& patterns) { patterns.add<SumOfWeights, SumOverWeights, NormalisedWeights>(patterns.getContext()); }

}  // namespace attune
