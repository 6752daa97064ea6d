#include "codegen/passes/merged_products.h"

#include <array>
#include <optional>

#include "codegen/passes/rewriting.h"

namespace attune {
namespace {

using mlir::PatternRewriter;

/// The split that takes apart what was merged: all extents of its parts but one are known, and there are no more than it can state.
std::optional<Split> split_of(const Merge& merge, TensorType merged_from) {
  if (merge.from.size() > static_cast<int>(Split{}.extents.size())) return std::nullopt;
  Split split{merge.into, merge.from, {}};
  int unknown = 0, open = merge.from.size() - 1;  // the part that takes what is left: the one that is not known, or the last
  for (const TypeDim& dim : merged_from.dims()) {
    const int part = merge.from.position(dim.name.getValue());
    if (part < 0) continue;
    split.extents[static_cast<std::size_t>(part)] = dim.extent;
    if (dim.extent != 0) continue;
    open = part;
    ++unknown;
  }
  split.extents[static_cast<std::size_t>(open)] = 0;
  return unknown <= 1 ? std::optional(split) : std::nullopt;
}

/// Of an operand that is merged along a contracted dim.
struct ProductOverMerged : mlir::OpRewritePattern<GraphOp<Matmul>> {
  using OpRewritePattern::OpRewritePattern;
  mlir::LogicalResult matchAndRewrite(GraphOp<Matmul> op, PatternRewriter& rewriter) const override {
    return mlir::success(rewrite(op, 0, rewriter) || rewrite(op, 1, rewriter));
  }

 private:
  static bool rewrite(GraphOp<Matmul> op, unsigned side, PatternRewriter& rewriter) {
    auto merge = op->getOperand(side).getDefiningOp<GraphOp<Merge>>();
    if (!merge || !op.definition().over.has(merge.definition().into)) return false;
    const Merge merged = merge.definition();
    const mlir::Value x = merge->getOperand(0), other = op->getOperand(1 - side);
    if (is_computed_along(other, merged.into)) return false;
    const std::optional<Split> split = split_of(merged, llvm::cast<TensorType>(x.getType()));
    Matmul product;
    for (const Name dim : op.definition().over)
      for (const Name part : dim == merged.into ? merged.from : Names{dim}) product.over.add(part);
    const std::optional<Type> parts = split ? type_after(*split, {type_of(other.getType())}) : std::nullopt;
    if (!parts || !type_after(product, {type_of(x.getType()), *parts})) return false;
    std::array<mlir::Value, 2> operands;
    operands[side] = x;
    operands[1 - side] = add_operation(*split, {other}, op, rewriter);
    rewriter.replaceOp(op, add_operation(product, operands, op, rewriter));
    return true;
  }
};

/// split(merge(x)) -> x, of the same dims
struct SplitOfMerged : mlir::OpRewritePattern<GraphOp<Split>> {
  using OpRewritePattern::OpRewritePattern;
  mlir::LogicalResult matchAndRewrite(GraphOp<Split> op, PatternRewriter& rewriter) const override {
    auto merge = op->getOperand(0).getDefiningOp<GraphOp<Merge>>();
    const Split split = op.definition();
    if (!merge || merge.definition().into != split.from || merge.definition().from != split.into) return mlir::failure();
    if (merge->getOperand(0).getType() != op->getResult(0).getType()) return mlir::failure();
    rewriter.replaceOp(op, merge->getOperand(0));
    return mlir::success();
  }
};

/// merge(split(x)) -> x, of the same dims
struct MergeOfSplit : mlir::OpRewritePattern<GraphOp<Merge>> {
  using OpRewritePattern::OpRewritePattern;
  mlir::LogicalResult matchAndRewrite(GraphOp<Merge> op, PatternRewriter& rewriter) const override {
    auto split = op->getOperand(0).getDefiningOp<GraphOp<Split>>();
    const Merge merge = op.definition();
    if (!split || split.definition().from != merge.into || split.definition().into != merge.from) return mlir::failure();
    if (split->getOperand(0).getType() != op->getResult(0).getType()) return mlir::failure();
    rewriter.replaceOp(op, split->getOperand(0));
    return mlir::success();
  }
};

}  // namespace

void add_merged_patterns(mlir::RewritePatternSet& patterns) { patterns.add<ProductOverMerged, SplitOfMerged, MergeOfSplit>(patterns.getContext()); }

}  // namespace attune
