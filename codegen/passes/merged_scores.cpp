#include "codegen/passes/merged_scores.h"

#include <array>
#include <optional>

#include "codegen/passes/rewriting.h"

namespace attune {
namespace {

using mlir::PatternRewriter;

/// How many of `dims` the value has.
int count_in(mlir::Value value, const Names& dims) {
  int count = 0;
  for (const Name dim : dims) count += dims_of(value).has(dim);
  return count;
}

/// The side of the product that has all of the dims, where the other has none.
std::optional<unsigned> side_of(mlir::Operation* product, const Names& dims) {
  for (const unsigned side : {0u, 1u})
    if (count_in(product->getOperand(side), dims) == dims.size() && count_in(product->getOperand(1 - side), dims) == 0) return side;
  return std::nullopt;
}

/// The value is a product of such sides, or made of one by elementwise operations.
bool holds_product(mlir::Value value, const Names& dims) {
  return llvm::any_of(made_of(value), [&](mlir::Value part) {
    auto product = part.getDefiningOp<GraphOp<Matmul>>();
    return product && side_of(product, dims);
  });
}

/// The scores that the merge is of, if nothing else reads them and a softmax reads the merged ones.
mlir::Operation* merged_scores(GraphOp<Merge> merge) {
  mlir::Operation* op = merge->getOperand(0).getDefiningOp();
  return op != nullptr && op->hasOneUse() && is_score(merge->getResult(0)) ? op : nullptr;
}

bool is_of(const std::optional<Type>& type, mlir::Operation* op) { return type && *type == type_of(op->getResult(0).getType()); }

struct MergedProduct : mlir::OpRewritePattern<GraphOp<Merge>> {
  using OpRewritePattern::OpRewritePattern;
  mlir::LogicalResult matchAndRewrite(GraphOp<Merge> op, PatternRewriter& rewriter) const override {
    auto product = llvm::dyn_cast_or_null<GraphOp<Matmul>>(merged_scores(op));
    const Merge merge = op.definition();
    const std::optional<unsigned> side = product ? side_of(product, merge.from) : std::nullopt;
    if (!side) return mlir::failure();
    llvm::SmallVector<mlir::Value> operands(product->getOperands());
    std::array<Type, 2> types{type_of(operands[0].getType()), type_of(operands[1].getType())};
    const std::optional<Type> merged = type_after(merge, types[*side]);
    if (!merged) return mlir::failure();
    types[*side] = *merged;
    if (!is_of(type_after(product.definition(), types), op)) return mlir::failure();
    operands[*side] = add_operation(merge, operands[*side], op, rewriter);
    rewriter.replaceOp(op, add_operation(product.definition(), operands, op, rewriter));
    return mlir::success();
  }
};

struct MergedChange : mlir::OpRewritePattern<GraphOp<Merge>> {
  using OpRewritePattern::OpRewritePattern;
  mlir::LogicalResult matchAndRewrite(GraphOp<Merge> op, PatternRewriter& rewriter) const override {
    mlir::Operation* change = merged_scores(op);
    const Merge merge = op.definition();
    if (change == nullptr || !is_elementwise(change) || !holds_product(change->getResult(0), merge.from)) return mlir::failure();
    llvm::SmallVector<Type> types;
    for (const mlir::Value operand : change->getOperands()) {
      types.push_back(type_of(operand.getType()));
      if (count_in(operand, merge.from) == 0) continue;
      const std::optional<Type> all = spread(types.back(), merge.from), merged = all ? type_after(merge, *all) : std::nullopt;
      if (!merged) return mlir::failure();
      types.back() = *merged;
    }
    const AnyOp definition = *op_of(change);
    if (!is_of(type_after(definition, types), op)) return mlir::failure();
    llvm::SmallVector<mlir::Value> operands;
    for (const mlir::Value operand : change->getOperands())
      operands.push_back(count_in(operand, merge.from) == 0 ? operand : add_operation(merge, spread(operand, merge.from, op, rewriter), op, rewriter));
    rewriter.replaceOp(op, add_operation(definition, operands, op, rewriter));
    return mlir::success();
  }

 private:
  /// With those of the dims that it lacks, as the operations below give them.
  static std::optional<Type> spread(std::optional<Type> type, const Names& dims) {
    for (const Name dim : dims)
      if (type && !type->dims.has(dim)) type = type_after(Select{}, {{Kind::boolean, {dim}}, *type, *type});
    return type;
  }
  static mlir::Value spread(mlir::Value value, const Names& dims, mlir::Operation* like, PatternRewriter& rewriter) {
    for (const Name dim : dims) {
      if (dims_of(value).has(dim)) continue;
      const mlir::Value first = add_operation(Constant{0, Kind::i64}, {}, like, rewriter);
      const mlir::Value is_there = add_operation(GreaterEqual{}, {add_operation(Index{dim}, {}, like, rewriter), first}, like, rewriter);
      value = add_operation(Select{}, {is_there, value, value}, like, rewriter);
    }
    return value;
  }
};

/// Attention computes the weights with their product: a loop that is no product gives them along the keys, or one whose operands share a dim with the
/// values, or a mask of queries and keys is between (codegen/plan/weighted_sum_roles.cpp). Others are a hidden layer, which is stored and read in parts
/// as it lies, while a weight that is computed, as blocks of integers with scales are, would be read at other places than it is computed at.
bool are_of_attention(mlir::Value weights, mlir::Value value, Name keys) {
  return is_computed_along(weights, keys) && llvm::any_of(made_of(weights, keys), [&](mlir::Value part) {
    mlir::Operation* op = part.getDefiningOp();
    if (op == nullptr || !dims_of(part).has(keys)) return false;
    auto product = llvm::dyn_cast<GraphOp<Matmul>>(op);
    if (!product) return has_loop(op) || (type_of(part.getType()).kind == Kind::boolean && dims_of(part).size() > 1);
    const Names query = dims_of(product->getOperand(0)), key = dims_of(product->getOperand(1));
    return llvm::any_of(dims_of(value), [&](Name dim) { return dim != keys && query.has(dim) && key.has(dim) && dims_of(part).has(dim); });
  });
}

struct ProductOfSplitWeights : mlir::OpRewritePattern<GraphOp<Matmul>> {
  using OpRewritePattern::OpRewritePattern;
  mlir::LogicalResult matchAndRewrite(GraphOp<Matmul> op, PatternRewriter& rewriter) const override {
    return mlir::success(rewrite(op, 0, rewriter) || rewrite(op, 1, rewriter));
  }

 private:
  static bool rewrite(GraphOp<Matmul> op, unsigned side, PatternRewriter& rewriter) {
    auto split = op->getOperand(side).getDefiningOp<GraphOp<Split>>();
    if (!split || !split->hasOneUse()) return false;
    const Merge merge{split.definition().into, split.definition().from};
    const Names over = op.definition().over;
    const mlir::Value weights = split->getOperand(0), value = op->getOperand(1 - side);
    if (!merge.from.without(over).empty() || count_in(value, merge.from) != merge.from.size() || !are_of_attention(weights, value, merge.into)) return false;
    Matmul product{over.without(merge.from)};
    product.over.add(merge.into);
    std::array<Type, 2> types{type_of(weights.getType()), type_of(weights.getType())};
    const std::optional<Type> merged = type_after(merge, type_of(value.getType()));
    if (!merged) return false;
    types[1 - side] = *merged;
    if (!is_of(type_after(product, types), op)) return false;
    llvm::SmallVector<mlir::Value> operands(2, weights);
    operands[1 - side] = add_operation(merge, value, op, rewriter);
    rewriter.replaceOp(op, add_operation(product, operands, op, rewriter));
    return true;
  }
};

}  // namespace

void add_merged_score_patterns(mlir::RewritePatternSet& patterns) { patterns.add<MergedProduct, MergedChange, ProductOfSplitWeights>(patterns.getContext()); }

}  // namespace attune
