#include "codegen/passes/canonicalise.h"

#include <mlir/IR/Dominance.h>
#include <mlir/IR/Matchers.h>
#include <mlir/IR/PatternMatch.h>
#include <mlir/Transforms/CSE.h>
#include <mlir/Transforms/GreedyPatternRewriteDriver.h>

#include <cmath>

#include "codegen/passes/concat_scores.h"
#include "codegen/passes/hidden_weights.h"
#include "codegen/passes/join_products.h"
#include "codegen/passes/merged_products.h"
#include "codegen/passes/merged_scores.h"
#include "codegen/passes/part_weights.h"
#include "codegen/passes/rewriting.h"
#include "codegen/passes/written_softmax.h"

namespace attune {
namespace {

using mlir::PatternRewriter;

bool is_scalar(mlir::Value value) { return llvm::cast<TensorType>(value.getType()).dims().empty(); }

/// extent(dim) -> constant
struct KnownExtent : mlir::OpRewritePattern<GraphOp<Extent>> {
  KnownExtent(mlir::MLIRContext* context, const KnownExtents& known) : OpRewritePattern(context), known_(known) {}
  mlir::LogicalResult matchAndRewrite(GraphOp<Extent> op, PatternRewriter& rewriter) const override {
    const auto found = known_.find(op.definition().dim);
    if (found == known_.end()) return mlir::failure();
    rewriter.replaceOp(op, add_operation(Constant{static_cast<double>(found->second), Kind::i64}, {}, op, rewriter));
    return mlir::success();
  }
  const KnownExtents& known_;
};

/// -(-x) -> x, not not x -> x
template <class Op>
struct Twice : mlir::OpRewritePattern<GraphOp<Op>> {
  using mlir::OpRewritePattern<GraphOp<Op>>::OpRewritePattern;
  mlir::LogicalResult matchAndRewrite(GraphOp<Op> op, PatternRewriter& rewriter) const override {
    auto inner = op->getOperand(0).template getDefiningOp<GraphOp<Op>>();
    if (!inner || inner->getOperand(0).getType() != op->getResult(0).getType()) return mlir::failure();
    rewriter.replaceOp(op, inner->getOperand(0));
    return mlir::success();
  }
};

/// x / c -> x * (1 / c), where both c and 1 / c are ordinary numbers in f32
struct DivideByConstant : mlir::OpRewritePattern<GraphOp<Divide>> {
  using OpRewritePattern::OpRewritePattern;
  mlir::LogicalResult matchAndRewrite(GraphOp<Divide> op, PatternRewriter& rewriter) const override {
    const std::optional<double> divisor = constant_of(op->getOperand(1));
    if (!divisor || is_scalar(op->getOperand(0)) || !(std::abs(*divisor) > 1e-30 && std::abs(*divisor) < 1e30)) return mlir::failure();
    const mlir::Value factor = add_operation(Constant{1 / *divisor, Kind::real}, {}, op, rewriter);
    rewriter.replaceOp(op, add_operation(Multiply{}, {op->getOperand(0), factor}, op, rewriter));
    return mlir::success();
  }
};

/// A product of reals with a factor taken apart: `x` times `factor`; the first operand is the factor only if it is a scalar.
struct Scaled {
  mlir::Value x, factor;
};
std::optional<Scaled> scaled(mlir::Operation* op) {
  if (op == nullptr || !llvm::isa<GraphOp<Multiply>>(op) || type_of(op->getResult(0).getType()).kind != Kind::real) return std::nullopt;
  const mlir::Value a = op->getOperand(0), b = op->getOperand(1);
  return is_scalar(a) && !is_scalar(b) ? Scaled{b, a} : Scaled{a, b};
}

/// (x * s) * t -> x * (s * t), s and t scalars, x none
struct ScaleOfScale : mlir::OpRewritePattern<GraphOp<Multiply>> {
  using OpRewritePattern::OpRewritePattern;
  mlir::LogicalResult matchAndRewrite(GraphOp<Multiply> op, PatternRewriter& rewriter) const override {
    const std::optional<Scaled> outer = scaled(op);
    if (!outer || !is_scalar(outer->factor)) return mlir::failure();
    const std::optional<Scaled> inner = scaled(outer->x.getDefiningOp());
    if (!inner || !is_scalar(inner->factor) || is_scalar(inner->x) || !outer->x.hasOneUse()) return mlir::failure();
    const mlir::Value factor = add_operation(Multiply{}, {inner->factor, outer->factor}, op, rewriter);
    rewriter.replaceOp(op, add_operation(Multiply{}, {inner->x, factor}, op, rewriter));
    return mlir::success();
  }
};

/// What a factor, or a divisor, is of: x and s of x * s, or of x / s.
std::optional<Scaled> scaled(GraphOp<Divide> op) { return Scaled{op->getOperand(0), op->getOperand(1)}; }
std::optional<Scaled> scaled(GraphOp<Multiply> op) { return scaled(op.getOperation()); }

/// matmul(a, b) * s -> matmul(a * s, b) for scores, where a has all dims of s; the same of matmul(a, b) / s
template <class Op>
struct ScaleOfScores : mlir::OpRewritePattern<GraphOp<Op>> {
  using mlir::OpRewritePattern<GraphOp<Op>>::OpRewritePattern;
  mlir::LogicalResult matchAndRewrite(GraphOp<Op> op, PatternRewriter& rewriter) const override {
    const std::optional<Scaled> outer = scaled(op);
    if (!outer) return mlir::failure();
    auto product = outer->x.template getDefiningOp<GraphOp<Matmul>>();
    if (!product || !product->hasOneUse() || !is_score(op->getResult(0))) return mlir::failure();
    const mlir::Value a = product->getOperand(0);
    const Names factor_dims = type_of(outer->factor.getType()).dims, over = product.definition().over;
    if (!factor_dims.without(type_of(a.getType()).dims).empty() || factor_dims.without(over) != factor_dims) return mlir::failure();
    const mlir::Value scaled_a = add_operation(Op{}, {a, outer->factor}, op, rewriter);
    rewriter.replaceOp(op, add_operation(product.definition(), {scaled_a, product->getOperand(1)}, op, rewriter));
    return mlir::success();
  }
};

/// rename(rename(x, a, b), b, a) -> x
struct RenamedBack : mlir::OpRewritePattern<GraphOp<Rename>> {
  using OpRewritePattern::OpRewritePattern;
  mlir::LogicalResult matchAndRewrite(GraphOp<Rename> op, PatternRewriter& rewriter) const override {
    auto inner = op->getOperand(0).getDefiningOp<GraphOp<Rename>>();
    if (!inner || inner.definition().from != op.definition().to || inner.definition().to != op.definition().from) return mlir::failure();
    rewriter.replaceOp(op, inner->getOperand(0));
    return mlir::success();
  }
};

/// The extent of the dim follows from that of `source`, or is it.
bool follows_from(Name dim, Name source, const std::vector<Derivation>& derivations) {
  if (dim == source) return true;
  const auto derivation = std::ranges::find(derivations, dim, &Derivation::dim);
  return derivation != derivations.end() &&
         std::ranges::any_of(derivation->operands, [&](Name operand) { return follows_from(operand, source, derivations); });
}

/// The renames that make the dim, if all that makes it are renames of renames of one dim `first` by way of `middle`.
struct RenameChain {
  Name first, middle, last;
  llvm::SmallVector<GraphOp<Rename>> renames;
};
std::optional<RenameChain> chain_to(const Derivation& derivation, mlir::func::FuncOp function) {
  RenameChain chain{{}, {}, derivation.dim, {}};
  bool is_chain = derivation.formula == Formula::product && derivation.value == 1 && derivation.operands.size() == 1;
  function.walk([&](mlir::Operation* op) {
    auto rename = llvm::dyn_cast<GraphOp<Rename>>(op);
    if (!rename || rename.definition().to != derivation.dim) return;
    auto inner = rename->getOperand(0).getDefiningOp<GraphOp<Rename>>();
    const Rename outer = rename.definition();
    if (!inner || inner.definition().to != outer.from || (!chain.first.empty() && chain.first != inner.definition().from)) {
      is_chain = false;
      return;
    }
    chain.first = inner.definition().from;
    chain.middle = outer.from;
    chain.renames.push_back(rename);
  });
  return is_chain && !chain.renames.empty() ? std::optional(chain) : std::nullopt;
}

/// rename(rename(x, a, b), b, c) -> rename(x, a, c), and c = a in attn.dims; only if nothing else makes c, and a does not follow from c.
void merge_renames(mlir::func::FuncOp function) {
  std::vector<Derivation> derivations = derivations_of(function);
  for (Derivation& derivation : derivations) {
    const std::optional<RenameChain> chain = chain_to(derivation, function);
    if (!chain || follows_from(chain->first, chain->last, derivations)) continue;
    for (GraphOp<Rename> rename : chain->renames) {
      mlir::OpBuilder builder(rename);
      const auto type = llvm::cast<TensorType>(rename->getResult(0).getType());
      const mlir::Value x = rename->getOperand(0).getDefiningOp()->getOperand(0);
      mlir::Operation* merged = create_operation(Rename{chain->first, chain->last}, x, type, builder, rename->getLoc());
      rename->replaceAllUsesWith(merged);
      rename->erase();
    }
    derivation.operands = Names{chain->first};
  }
  record_derivations(function, derivations);
}

}  // namespace

void canonicalise(mlir::ModuleOp module) {
  for (mlir::func::FuncOp function : module.getOps<mlir::func::FuncOp>()) {
    merge_renames(function);
    const KnownExtents known = known_extents(function);
    mlir::RewritePatternSet patterns(module.getContext());
    patterns.add<KnownExtent>(module.getContext(), known);
    patterns.add<RenamedBack, Twice<Negate>, Twice<Not>, DivideByConstant>(module.getContext());
    patterns.add<ScaleOfScale, ScaleOfScores<Multiply>, ScaleOfScores<Divide>>(module.getContext());
    add_concat_patterns(patterns);
    add_product_patterns(patterns);
    add_weight_patterns(patterns);
    add_written_softmax_patterns(patterns);
    add_hidden_patterns(patterns);
    add_merged_patterns(patterns);
    add_merged_score_patterns(patterns);
    const mlir::FrozenRewritePatternSet frozen(std::move(patterns));
    const auto simplify = [&] {
      // No pattern finds what another leaves and undoes it, so this ends; a fixed point is not needed for what follows.
      (void)mlir::applyPatternsGreedily(function, frozen,
                                        mlir::GreedyRewriteConfig().setRegionSimplificationLevel(mlir::GreedySimplifyRegionLevel::Disabled));
    };
    simplify();
    mlir::IRRewriter rewriter(module.getContext());
    mlir::DominanceInfo dominance(function);
    mlir::eliminateCommonSubExpressions(rewriter, dominance, function);
    simplify();  // values with one use that had two before
  }
}

}  // namespace attune
