#include "codegen/passes/written_softmax.h"

#include <limits>
#include <optional>
#include <type_traits>

#include "codegen/passes/rewriting.h"

namespace attune {
namespace {

using mlir::PatternRewriter;

/// The greatest of scores along one dim.
struct Greatest {
  mlir::Value scores;
  Name over;
};
std::optional<Greatest> greatest_of(mlir::Value value) {
  auto maximum = value.getDefiningOp<GraphOp<ReduceMax>>();
  if (!maximum || maximum.definition().over.size() != 1) return std::nullopt;
  return Greatest{maximum->getOperand(0), maximum.definition().over[0]};
}

bool is_equal_to(mlir::Value condition, mlir::Value x, double number) {
  auto equal = condition.getDefiningOp<GraphOp<Equal>>();
  return equal && ((equal->getOperand(0) == x && constant_of(equal->getOperand(1)) == number) ||
                   (equal->getOperand(1) == x && constant_of(equal->getOperand(0)) == number));
}

/// x of select(x == number, other, x), or null.
mlir::Value unless_equal(mlir::Value value, double number, double other) {
  auto select = value.getDefiningOp<GraphOp<Select>>();
  const bool is_found = select && constant_of(select->getOperand(1)) == other && is_equal_to(select->getOperand(0), select->getOperand(2), number);
  return is_found ? select->getOperand(2) : mlir::Value();
}

/// exp(s - m): relative to the greatest score m = max(s), or to log_sum_exp(s).
struct Powers {
  mlir::Value scores;
  bool are_divided = false;  ///< by their total
  bool are_safe = false;     ///< 0 where all scores are minus infinity, not NaN
};
std::optional<Powers> powers_in(mlir::Value weights, Name over) {
  auto power = weights.getDefiningOp<GraphOp<Exp>>();
  auto relative = power ? power->getOperand(0).getDefiningOp<GraphOp<Subtract>>() : GraphOp<Subtract>();
  if (!relative) return std::nullopt;
  const mlir::Value scores = relative->getOperand(0), reference = relative->getOperand(1);
  auto logarithm = reference.getDefiningOp<GraphOp<LogSumExp>>();
  if (logarithm && logarithm.definition().over == over && logarithm->getOperand(0) == scores) return Powers{scores, true};
  const mlir::Value made_safe = unless_equal(reference, -std::numeric_limits<double>::infinity(), 0);
  const std::optional<Greatest> greatest = greatest_of(made_safe ? made_safe : reference);
  if (!greatest || greatest->over != over || greatest->scores != scores) return std::nullopt;
  return Powers{scores, false, made_safe != nullptr};
}

/// The weights that are summed along the dim, or null.
mlir::Value summed_in(mlir::Value total, Name over) {
  auto sum = total.getDefiningOp<GraphOp<ReduceSum>>();
  return sum && sum.definition().over == Names{over} ? sum->getOperand(0) : mlir::Value();
}

/// What a product of weights is divided by: their total, or 1 where that is 0, or, as part_weights.h divides, 1 where there are no keys.
struct Divisor {
  mlir::Value total, has_keys;  ///< the latter null without a choice
  bool is_safe = false;         ///< not 0
};
Divisor safe_divisor(mlir::Value value, mlir::Value has_keys) {
  const mlir::Value total = unless_equal(value, 0, 1);
  return {total ? total : value, has_keys, total != nullptr};
}
std::optional<Divisor> divisor_of(mlir::Value factor, bool is_reciprocal, Name over) {
  mlir::Value has_keys;
  if (auto select = factor.getDefiningOp<GraphOp<Select>>())
    if (constant_of(select->getOperand(2)) == 1.0 && asks_for_positions(select->getOperand(0), over)) {
      has_keys = select->getOperand(0);
      factor = select->getOperand(1);
    }
  if (!is_reciprocal) return safe_divisor(factor, has_keys);
  auto reciprocal = factor.getDefiningOp<GraphOp<Divide>>();
  if (!reciprocal || constant_of(reciprocal->getOperand(0)) != 1.0) return std::nullopt;
  return safe_divisor(reciprocal->getOperand(1), has_keys);
}

/// A product over one dim, where nothing else reads it.
GraphOp<Matmul> product_in(mlir::Value value) {
  auto product = value.getDefiningOp<GraphOp<Matmul>>();
  return product && product->hasOneUse() && product.definition().over.size() == 1 ? product : GraphOp<Matmul>();
}

/// The product with the softmax of the scores in place of operand `i`.
mlir::Value product_of_softmax(GraphOp<Matmul> product, unsigned i, mlir::Value scores, PatternRewriter& rewriter) {
  return with_operand(product, i, add_operation(Softmax{product.definition().over[0]}, {scores}, product, rewriter), rewriter);
}

/// 0, and NaN where the logarithm is infinite: of rows without keys, too, without a condition that says whether there are some.
mlir::Value nan_if_hidden(mlir::Value logarithm, mlir::Value has_keys, mlir::Operation* like, PatternRewriter& rewriter) {
  const mlir::Value none = add_operation(Subtract{}, {logarithm, logarithm}, like, rewriter);
  return has_keys ? add_operation(Select{}, {has_keys, none, add_operation(Constant{0, Kind::real}, {}, like, rewriter)}, like, rewriter) : none;
}

/// Powers relative to the greatest score, whose product is divided (or multiplied by the reciprocal) behind.
template <class Op>
struct WrittenSoftmax : mlir::OpRewritePattern<GraphOp<Op>> {
  using mlir::OpRewritePattern<GraphOp<Op>>::OpRewritePattern;
  mlir::LogicalResult matchAndRewrite(GraphOp<Op> op, PatternRewriter& rewriter) const override {
    constexpr bool is_multiplied = std::is_same_v<Op, Multiply>;
    for (const unsigned side : {0u, 1u}) {
      GraphOp<Matmul> product = side == 1 && !is_multiplied ? GraphOp<Matmul>() : product_in(op->getOperand(side));
      if (!product || dims_of(product->getResult(0)) != dims_of(op->getResult(0))) continue;
      const Name over = product.definition().over[0];
      const std::optional<Divisor> divisor = divisor_of(op->getOperand(1 - side), is_multiplied, over);
      if (!divisor) continue;
      for (const unsigned i : {0u, 1u})
        if (const mlir::Value made = divided(op, product, i, *divisor, rewriter)) {
          rewriter.replaceOp(op, made);
          return mlir::success();
        }
    }
    return mlir::failure();
  }

 private:
  static mlir::Value divided(mlir::Operation* op, GraphOp<Matmul> product, unsigned i, const Divisor& divisor, PatternRewriter& rewriter) {
    const Name over = product.definition().over[0];
    const mlir::Value weights = product->getOperand(i);
    const std::optional<Powers> powers = powers_in(weights, over);
    const bool is_read_here_alone = weights.hasNUses(2) && divisor.total.hasNUses(divisor.is_safe ? 2 : 1) && product->getOperand(1 - i) != weights;
    if (!powers || powers->are_divided || summed_in(divisor.total, over) != weights || !is_read_here_alone) return {};
    const mlir::Value sum = product_of_softmax(product, i, powers->scores, rewriter);
    if (powers->are_safe && divisor.is_safe) return sum;
    const mlir::Value logarithm = add_operation(LogSumExp{over}, {powers->scores}, op, rewriter);
    const mlir::Value has_keys = divisor.is_safe ? has_positions(over, op, rewriter) : divisor.has_keys;
    return add_operation(Add{}, {sum, nan_if_hidden(logarithm, has_keys, op, rewriter)}, op, rewriter);
  }
};

/// Powers relative to log_sum_exp: the logarithm of a softmax was written out.
struct PowersOfLogarithms : mlir::OpRewritePattern<GraphOp<Matmul>> {
  using OpRewritePattern::OpRewritePattern;
  mlir::LogicalResult matchAndRewrite(GraphOp<Matmul> op, PatternRewriter& rewriter) const override {
    if (op.definition().over.size() != 1) return mlir::failure();
    const Name over = op.definition().over[0];
    for (const unsigned i : {0u, 1u}) {
      const mlir::Value weights = op->getOperand(i);
      const std::optional<Powers> powers = powers_in(weights, over);
      if (!powers || !powers->are_divided || !weights.hasOneUse()) continue;
      const mlir::Value logarithm = add_operation(LogSumExp{over}, {powers->scores}, op, rewriter);
      const mlir::Value none = nan_if_hidden(logarithm, has_positions(over, op, rewriter), op, rewriter);
      rewriter.replaceOp(op, add_operation(Add{}, {product_of_softmax(op, i, powers->scores, rewriter), none}, op, rewriter));
      return mlir::success();
    }
    return mlir::failure();
  }
};

struct WrittenLogSumExp : mlir::OpRewritePattern<GraphOp<Add>> {
  using OpRewritePattern::OpRewritePattern;
  mlir::LogicalResult matchAndRewrite(GraphOp<Add> op, PatternRewriter& rewriter) const override {
    for (const unsigned i : {0u, 1u}) {
      const std::optional<Greatest> greatest = greatest_of(op->getOperand(i));
      auto logarithm = op->getOperand(1 - i).getDefiningOp<GraphOp<Log>>();
      if (!greatest || !logarithm || dims_of(op->getOperand(i)) != dims_of(op->getResult(0))) continue;
      const mlir::Value weights = summed_in(logarithm->getOperand(0), greatest->over);
      const std::optional<Powers> powers = weights ? powers_in(weights, greatest->over) : std::nullopt;
      if (!powers || powers->are_divided || powers->are_safe || powers->scores != greatest->scores) continue;
      const mlir::Value known = add_operation(LogSumExp{greatest->over}, {greatest->scores}, op, rewriter);
      const mlir::Value none = nan_if_hidden(known, has_positions(greatest->over, op, rewriter), op, rewriter);
      rewriter.replaceOp(op, add_operation(Add{}, {known, none}, op, rewriter));
      return mlir::success();
    }
    return mlir::failure();
  }
};

}  // namespace

void add_written_softmax_patterns(mlir::RewritePatternSet& patterns) {
  patterns.add<WrittenSoftmax<Divide>, WrittenSoftmax<Multiply>, PowersOfLogarithms, WrittenLogSumExp>(patterns.getContext());
}

}  // namespace attune
