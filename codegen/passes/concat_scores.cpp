#include "codegen/passes/concat_scores.h"

#include <limits>

#include "codegen/passes/rewriting.h"

namespace attune {
namespace {

using mlir::PatternRewriter;

/// Makes operations beside one that they replace.
struct Maker {
  mlir::Operation* like;
  PatternRewriter& rewriter;
  mlir::Value add(const AnyOp& op, mlir::ValueRange operands = {}) const { return add_operation(op, operands, like, rewriter); }
  mlir::Value literal(double value, Kind kind) const { return add(Constant{value, kind}); }
  /// The sum of the extents of the first `count` parts.
  mlir::Value first_of(const Concat& concat, std::size_t count) const {
    mlir::Value first = literal(0, Kind::i64);
    for (std::size_t i = 0; i < count; ++i) first = add(Add{}, {first, add(Extent{concat.along_of(i)})});
    return first;
  }
};

/// A part of a concat that is a mask: its predicate, whether that hides where it holds, and what it masks.
struct MaskedPart {
  mlir::Value predicate, score;
  bool is_hiding = false;
};

/// The predicate depends on `along` by the position alone. `seen`: values of which that was asked.
bool reads_positions_alone(mlir::Value value, Name along, llvm::DenseSet<mlir::Value>& seen) {
  if (!dims_of(value).has(along) || !seen.insert(value).second) return true;
  mlir::Operation* op = value.getDefiningOp();
  if (op == nullptr) return false;
  if (llvm::isa<GraphOp<Index>>(op)) return true;
  return is_elementwise(op) &&
         llvm::all_of(op->getOperands(), [&](mlir::Value operand) { return reads_positions_alone(operand, along, seen); });
}

std::optional<MaskedPart> masked(mlir::Value part, Name along) {
  auto select = part.getDefiningOp<GraphOp<Select>>();
  if (!select) return std::nullopt;
  const auto is_hidden = [](mlir::Value value) { return constant_of(value) == -std::numeric_limits<double>::infinity(); };
  const bool shows = is_hidden(select->getOperand(2));
  if (!shows && !is_hidden(select->getOperand(1))) return std::nullopt;
  const MaskedPart result{select->getOperand(0), select->getOperand(shows ? 1 : 2), !shows};
  const bool is_whole = dims_of(result.score).has(along);  // else the concat would not find its dim
  llvm::DenseSet<mlir::Value> seen;
  return is_whole && reads_positions_alone(result.predicate, along, seen) ? std::optional(result) : std::nullopt;
}

/// Puts `position` in the place of the index along `along`.
struct Mover {
  Name along;
  mlir::Value position;
  const Maker& maker;
  llvm::DenseMap<mlir::Value, mlir::Value> done{};

  mlir::Value moved(mlir::Value value) {
    if (!dims_of(value).has(along)) return value;
    mlir::Operation* op = value.getDefiningOp();
    if (llvm::isa<GraphOp<Index>>(op)) return position;
    if (const mlir::Value made = done.lookup(value)) return made;
    llvm::SmallVector<mlir::Value> operands;
    for (const mlir::Value operand : op->getOperands()) operands.push_back(moved(operand));
    return done[value] = maker.add(*op_of(op), operands);
  }
};

struct MasksOfConcat : mlir::OpRewritePattern<GraphOp<Concat>> {
  using OpRewritePattern::OpRewritePattern;
  mlir::LogicalResult matchAndRewrite(GraphOp<Concat> op, PatternRewriter& rewriter) const override {
    if (!is_score(op->getResult(0))) return mlir::failure();
    const Concat concat = op.definition();
    llvm::SmallVector<std::optional<MaskedPart>> parts;
    llvm::SmallVector<mlir::Value> scores;
    Names dims;
    for (const auto& [i, operand] : llvm::enumerate(op->getOperands())) {
      parts.push_back(masked(operand, concat.along_of(i)));
      scores.push_back(parts.back() ? parts.back()->score : operand);
      dims.unite(dims_of(scores.back()).renamed(concat.along_of(i), concat.into));
    }
    if (llvm::none_of(parts, [](const auto& part) { return part.has_value(); })) return mlir::failure();
    if (dims != dims_of(op->getResult(0))) return mlir::failure();  // a predicate brings a dim of its own
    const Maker maker{op, rewriter};
    const mlir::Value hidden = maker.literal(-std::numeric_limits<double>::infinity(), Kind::real);
    const mlir::Value visible = visible_of(concat, parts, maker);
    rewriter.replaceOp(op, maker.add(Select{}, {visible, maker.add(concat, scores), hidden}));
    return mlir::success();
  }

 private:
  /// For each masked part: the position is before it, behind it, or shown by its predicate.
  static mlir::Value visible_of(const Concat& concat, llvm::ArrayRef<std::optional<MaskedPart>> parts, const Maker& maker) {
    const mlir::Value position = maker.add(Index{concat.into});
    mlir::Value visible;
    for (const auto& [i, part] : llvm::enumerate(parts)) {
      if (!part) continue;
      const mlir::Value first = maker.first_of(concat, i), own = maker.add(Subtract{}, {position, first});
      mlir::Value shown = Mover{concat.along_of(i), own, maker}.moved(part->predicate);
      if (part->is_hiding) shown = maker.add(Not{}, shown);
      if (i > 0) shown = maker.add(Or{}, {shown, maker.add(Less{}, {position, first})});
      if (i + 1 < parts.size()) shown = maker.add(Or{}, {shown, maker.add(GreaterEqual{}, {position, maker.first_of(concat, i + 1)})});
      visible = visible ? maker.add(And{}, {visible, shown}) : shown;
    }
    return visible;
  }
};

/// Whether position i of `keys` is position i of `all`: the keys are the first of what makes `all`.
bool begins_with(Name all, Name keys, mlir::func::FuncOp function) {
  return llvm::any_of(derivations_of(function), [&](const Derivation& d) {
    const bool is_laid = d.formula == Formula::sum || d.formula == Formula::product;
    return d.dim == all && is_laid && !d.operands.empty() && d.operands[0] == keys && (d.formula == Formula::sum || d.operands.size() == 1);
  });
}

struct ChosenWeights : mlir::OpRewritePattern<GraphOp<Matmul>> {
  using OpRewritePattern::OpRewritePattern;
  mlir::LogicalResult matchAndRewrite(GraphOp<Matmul> op, PatternRewriter& rewriter) const override {
    if (op.definition().over.size() != 1) return mlir::failure();
    const Name keys = op.definition().over[0];
    for (unsigned side = 0; side < 2; ++side) {
      auto gather = op->getOperand(side).getDefiningOp<GraphOp<Gather>>();
      if (!gather || !gather->hasOneUse()) continue;
      const Name all = gather.definition().along;
      if (all == keys) continue;
      auto softmax = gather->getOperand(0).getDefiningOp<GraphOp<Softmax>>();
      auto index = gather->getOperand(1).getDefiningOp<GraphOp<Index>>();
      if (!softmax || softmax.definition().over != all || !index || index.definition().dim != keys) continue;
      if (!begins_with(all, keys, op->getParentOfType<mlir::func::FuncOp>()) || dims_of(op->getOperand(1 - side)).has(all)) continue;
      const Maker maker{softmax, rewriter};  // which has the dim
      std::array<mlir::Value, 2> operands;
      operands[side] = gather->getOperand(0);
      operands[1 - side] = placed(op->getOperand(1 - side), keys, all, maker);
      rewriter.replaceOp(op, maker.add(Matmul{{all}}, operands));
      return mlir::success();
    }
    return mlir::failure();
  }

 private:
  /// The values along all positions, zero where there is none.
  static mlir::Value placed(mlir::Value values, Name keys, Name all, const Maker& maker) {
    const mlir::Value position = maker.add(Index{all});
    const mlir::Value inside = maker.add(Less{}, {position, maker.add(Extent{keys})});
    return maker.add(Select{}, {inside, maker.add(Gather{keys}, {values, position}), maker.literal(0, Kind::real)});
  }
};

}  // namespace

void add_concat_patterns(mlir::RewritePatternSet& patterns) { patterns.add<MasksOfConcat, ChosenWeights>(patterns.getContext()); }

}  // namespace attune
