#include "codegen/passes/hidden_weights.h"

#include <llvm/ADT/SetVector.h>

#include <limits>
#include <map>

#include "codegen/dialect/codec.h"
#include "codegen/passes/rewriting.h"

namespace attune {
namespace {

using mlir::PatternRewriter;

/// A value that is one number wherever the predicate of a mask hides.
struct Hidden {
  mlir::Value predicate;
  bool is_hiding = false;  // where the predicate holds
  double value = 0;
};

/// A select of minus infinity that has no more dims than what it shows.
struct MaskOfScores {
  mlir::Value predicate, shown;
  bool is_hiding = false;
};
std::optional<MaskOfScores> mask_of(mlir::Value value) {
  auto select = value.getDefiningOp<GraphOp<Select>>();
  if (!select) return std::nullopt;
  const auto is_hidden = [](mlir::Value v) { return constant_of(v) == -std::numeric_limits<double>::infinity(); };
  const bool shows = is_hidden(select->getOperand(2));
  if (!shows && !is_hidden(select->getOperand(1))) return std::nullopt;
  const MaskOfScores mask{select->getOperand(0), select->getOperand(shows ? 1 : 2), !shows};
  return mask.shown.getType() == value.getType() ? std::optional(mask) : std::nullopt;
}

/// What is made of masks and of constants by elementwise operations; each value is looked at once.
class MadeOfMasks {
 public:
  const std::optional<Hidden>& hidden(mlir::Value value) {
    if (const auto known = hidden_.find(value.getAsOpaquePointer()); known != hidden_.end()) return known->second;
    std::optional<Hidden> found = find_hidden(value);
    return hidden_.try_emplace(value.getAsOpaquePointer(), std::move(found)).first->second;
  }
  /// The same of what the masks show.
  mlir::Value shown(mlir::Value value, PatternRewriter& rewriter) {
    if (const std::optional<MaskOfScores> mask = mask_of(value)) return mask->shown;
    if (constant_of(value)) return value;
    if (const mlir::Value made = shown_.lookup(value)) return made;
    mlir::Operation* op = value.getDefiningOp();
    llvm::SmallVector<mlir::Value> operands;
    for (const mlir::Value operand : op->getOperands()) operands.push_back(shown(operand, rewriter));
    return shown_[value] = add_operation(*op_of(op), operands, op, rewriter);
  }

 private:
  std::optional<Hidden> find_hidden(mlir::Value value) {
    if (const std::optional<MaskOfScores> mask = mask_of(value))
      return Hidden{mask->predicate, mask->is_hiding, -std::numeric_limits<double>::infinity()};
    mlir::Operation* op = value.getDefiningOp();
    if (op == nullptr || !is_elementwise(op) || llvm::isa<GraphOp<Select>>(op)) return std::nullopt;
    std::optional<Hidden> all;
    llvm::SmallVector<mlir::Attribute> values;
    for (const mlir::Value operand : op->getOperands()) {
      std::optional<double> number = constant_of(operand);
      if (!number) {
        const std::optional<Hidden>& of = hidden(operand);
        if (!of || (all && (all->predicate != of->predicate || all->is_hiding != of->is_hiding))) return std::nullopt;
        all = of;
        number = of->value;
      }
      values.push_back(Codec<double>::encode(op->getContext(), *number));
    }
    if (!all) return std::nullopt;
    const auto folded = llvm::dyn_cast_if_present<mlir::Attribute>(detail::fold_operation(op, *op_of(op), values));
    const std::optional<double> number = folded ? Codec<double>::decode(folded) : std::nullopt;
    return number ? std::optional(Hidden{all->predicate, all->is_hiding, *number}) : std::nullopt;
  }

  std::map<void*, std::optional<Hidden>> hidden_;
  llvm::DenseMap<mlir::Value, mlir::Value> shown_;
};

struct FunctionOfMask : mlir::RewritePattern {
  explicit FunctionOfMask(mlir::MLIRContext* context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  mlir::LogicalResult matchAndRewrite(mlir::Operation* op, PatternRewriter& rewriter) const override {
    if (!is_elementwise(op) || llvm::isa<GraphOp<Select>>(op) || type_of(op->getResult(0).getType()).kind != Kind::real) return mlir::failure();
    MadeOfMasks made;
    const std::optional<Hidden> hidden = made.hidden(op->getResult(0));
    if (!hidden || hidden->value != 0) return mlir::failure();
    const mlir::Value zero = add_operation(Constant{0, Kind::real}, {}, op, rewriter), value = made.shown(op->getResult(0), rewriter);
    llvm::SmallVector<mlir::Value> operands{hidden->predicate, value, zero};
    if (hidden->is_hiding) std::swap(operands[1], operands[2]);
    rewriter.replaceOp(op, add_operation(Select{}, operands, op, rewriter));
    return mlir::success();
  }
};

/// A select of 0 that has no more dims than what it shows.
std::optional<MaskOfScores> zeros_of(mlir::Value value) {
  auto select = value.getDefiningOp<GraphOp<Select>>();
  if (!select || type_of(value.getType()).kind != Kind::real) return std::nullopt;
  const bool shows = constant_of(select->getOperand(2)) == 0.0;
  if (!shows && constant_of(select->getOperand(1)) != 0.0) return std::nullopt;
  const MaskOfScores mask{select->getOperand(0), select->getOperand(shows ? 1 : 2), !shows};
  return mask.shown.getType() == value.getType() ? std::optional(mask) : std::nullopt;
}

/// The value is read, through elementwise operations, by matmuls over some of the dims alone: it is weights there.
bool is_weights(mlir::Value value, const Names& dims) {
  llvm::SetVector<mlir::Value> values;
  values.insert(value);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].use_empty()) return false;
    for (mlir::Operation* user : values[i].getUsers()) {
      auto matmul = llvm::dyn_cast<GraphOp<Matmul>>(user);
      if (matmul ? dims.without(matmul.definition().over).size() == dims.size() : !is_elementwise(user)) return false;
      if (!matmul) values.insert(user->getResult(0));
    }
  }
  return true;
}

/// Scores are made of a product that has one of the dims.
bool are_scores(mlir::Value value, const Names& dims) {
  return llvm::any_of(made_of(value), [&](mlir::Value part) {
    return part.getDefiningOp<GraphOp<Matmul>>() && dims.without(dims_of(part)).size() < dims.size();
  });
}

struct ScoresTimesMask : mlir::OpRewritePattern<GraphOp<Multiply>> {
  using OpRewritePattern::OpRewritePattern;
  mlir::LogicalResult matchAndRewrite(GraphOp<Multiply> op, PatternRewriter& rewriter) const override {
    return mlir::success(rewrite(op, 0, rewriter) || rewrite(op, 1, rewriter));
  }

 private:
  static bool rewrite(GraphOp<Multiply> op, unsigned side, PatternRewriter& rewriter) {
    const std::optional<MaskOfScores> mask = zeros_of(op->getOperand(side));
    if (!mask) return false;
    const Names dims = dims_of(mask->predicate);
    if (dims.size() < 2 || !are_scores(op->getOperand(1 - side), dims) || !is_weights(op->getResult(0), dims)) return false;
    llvm::SmallVector<mlir::Value> factors(op->getOperands());
    factors[side] = mask->shown;
    const mlir::Value product = add_operation(Multiply{}, factors, op, rewriter), zero = add_operation(Constant{0, Kind::real}, {}, op, rewriter);
    llvm::SmallVector<mlir::Value> operands{mask->predicate, product, zero};
    if (mask->is_hiding) std::swap(operands[1], operands[2]);
    rewriter.replaceOp(op, add_operation(Select{}, operands, op, rewriter));
    return true;
  }
};

}  // namespace

void add_hidden_patterns(mlir::RewritePatternSet& patterns) { patterns.add<FunctionOfMask, ScoresTimesMask>(patterns.getContext()); }

}  // namespace attune
