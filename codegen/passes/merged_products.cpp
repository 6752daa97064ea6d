#include "codegen/passes/merged_products.h"

#include <llvm/ADT/SetVector.h>

#include <array>
#include <initializer_list>
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

/// The type after the operation; none if a rule of the language is against it.
std::optional<Type> type_after(const AnyOp& op, std::initializer_list<Type> operands) {
  const Checked checked = check_operation(op, operands);
  return checked.problem.empty() ? std::optional(checked.type) : std::nullopt;
}

/// An operation with a loop gives the value its elements along the dim: split, they are read at other places than they are computed at, so that a product
/// could not take them as they come. Weights of attention are such.
bool is_computed_along(mlir::Value value, Name dim) {
  llvm::SetVector<mlir::Value> made_of;
  made_of.insert(value);
  for (std::size_t i = 0; i < made_of.size(); ++i) {
    mlir::Operation* op = made_of[i].getDefiningOp();
    if (op == nullptr || !dims_of(made_of[i]).has(dim)) continue;
    if (is_elementwise(op)) made_of.insert(op->operand_begin(), op->operand_end());
    const std::optional<AnyOp> definition = op_of(op);
    if (definition && std::visit([]<class Op>(const Op&) { return requires { Op::has_loop; }; }, *definition)) return true;
  }
  return false;
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

}  // namespace

void add_merged_patterns(mlir::RewritePatternSet& patterns) { patterns.add<ProductOverMerged, SplitOfMerged>(patterns.getContext()); }

}  // namespace attune
