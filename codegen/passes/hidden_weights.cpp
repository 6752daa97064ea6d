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

/// A select of one number, which hides, that has no more dims than what it shows.
struct Mask {
  mlir::Value predicate, shown;
  bool is_hiding = false;
};
std::optional<Mask> mask_of(mlir::Value value, double hidden) {
  auto select = value.getDefiningOp<GraphOp<Select>>();
  if (!select || type_of(value.getType()).kind != Kind::real) return std::nullopt;
  const bool shows = constant_of(select->getOperand(2)) == hidden;
  if (!shows && constant_of(select->getOperand(1)) != hidden) return std::nullopt;
  const Mask mask{select->getOperand(0), select->getOperand(shows ? 1 : 2), !shows};
  return mask.shown.getType() == value.getType() ? std::optional(mask) : std::nullopt;
}
/// Of scores.
std::optional<Mask> mask_of(mlir::Value value) { return mask_of(value, -std::numeric_limits<double>::infinity()); }

/// The value where the predicate shows it, and 0, in place of `op`.
void replace_by_shown(mlir::Operation* op, mlir::Value predicate, bool is_hiding, mlir::Value value, PatternRewriter& rewriter) {
  llvm::SmallVector<mlir::Value> operands{predicate, value, add_operation(Constant{0, Kind::real}, {}, op, rewriter)};
  if (is_hiding) std::swap(operands[1], operands[2]);
  rewriter.replaceOp(op, add_operation(Select{}, operands, op, rewriter));
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
    if (const std::optional<Mask> mask = mask_of(value)) return mask->shown;
    if (constant_of(value)) return value;
    if (const mlir::Value made = shown_.lookup(value)) return made;
    mlir::Operation* op = value.getDefiningOp();
    llvm::SmallVector<mlir::Value> operands;
    for (const mlir::Value operand : op->getOperands()) operands.push_back(shown(operand, rewriter));
    return shown_[value] = add_operation(*op_of(op), operands, op, rewriter);
  }

 private:
  std::optional<Hidden> find_hidden(mlir::Value value) {
    if (const std::optional<Mask> mask = mask_of(value))
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
    replace_by_shown(op, hidden->predicate, hidden->is_hiding, made.shown(op->getResult(0), rewriter), rewriter);
    return mlir::success();
  }
};

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
    const std::optional<Mask> mask = mask_of(op->getOperand(side), 0);
    if (!mask) return false;
    const Names dims = dims_of(mask->predicate);
    if (dims.size() < 2 || !are_scores(op->getOperand(1 - side), dims) || !is_weights(op->getResult(0), dims)) return false;
    llvm::SmallVector<mlir::Value> factors(op->getOperands());
    factors[side] = mask->shown;
    replace_by_shown(op, mask->predicate, mask->is_hiding, add_operation(Multiply{}, factors, op, rewriter), rewriter);
    return true;
  }
};

}  // namespace

void add_hidden_patterns(mlir::RewritePatternSet& patterns) { patterns.add<FunctionOfMask, ScoresTimesMask>(patterns.getContext()); }

}  // namespace attune
