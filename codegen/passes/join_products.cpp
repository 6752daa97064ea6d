#include "codegen/passes/join_products.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "codegen/passes/rewriting.h"

namespace attune {
namespace {

using mlir::PatternRewriter;

/// A term of a sum, and its sign.
struct Term {
  mlir::Value value;
  bool is_negative = false;
};

bool is_sum(mlir::Operation* op) {
  return op != nullptr && llvm::isa<GraphOp<Add>, GraphOp<Subtract>>(op) && type_of(op->getResult(0).getType()).kind == Kind::real;
}

/// The terms of a sum of sums that nothing else reads, from the left.
void collect_terms(mlir::Operation* sum, bool is_negative, llvm::SmallVectorImpl<Term>& terms) {
  for (unsigned i = 0; i < 2; ++i) {
    const mlir::Value value = sum->getOperand(i);
    const bool is_taken_away = is_negative != (i == 1 && llvm::isa<GraphOp<Subtract>>(sum));
    mlir::Operation* inner = value.getDefiningOp();
    if (is_sum(inner) && value.hasOneUse()) collect_terms(inner, is_taken_away, terms);
    else terms.push_back({value, is_taken_away});
  }
}

/// The terms in their order, but a positive one first.
llvm::SmallVector<Term> ordered(llvm::SmallVector<Term> terms) {
  const auto positive = llvm::find_if(terms, [](const Term& term) { return !term.is_negative; });
  if (positive != terms.end()) std::rotate(terms.begin(), positive, positive + 1);
  return terms;
}

/// A matmul that nothing else reads, its operands by side.
struct Product {
  mlir::Value left, right;
  Name over;
};

std::optional<Product> product_of(const Term& term) {
  auto matmul = term.value.getDefiningOp<GraphOp<Matmul>>();
  if (!matmul || !matmul->hasOneUse() || matmul.definition().over.size() != 1) return std::nullopt;
  return Product{matmul->getOperand(0), matmul->getOperand(1), matmul.definition().over[0]};
}

/// The rows and columns of what is computed: the dims that one side of both products has and the other lacks.
struct Sides {
  Names rows, columns;
};

Sides sides_of(const Product& a, const Product& b) {
  Names left = dims_of(a.left).without({a.over}), right = dims_of(a.right).without({a.over});
  left.unite(dims_of(b.left).without({b.over}));
  right.unite(dims_of(b.right).without({b.over}));
  return {left.without(right), right.without(left)};
}

/// Both products have all rows and columns of their sum. One that lacks a dim of them, as that of queries and rows of keys does where another is of
/// queries, rows and columns, is cheaper by that dim's extent alone.
bool are_alike(const Product& a, const Product& b) {
  const Sides sum = sides_of(a, b);
  if (sum.rows.empty() || sum.columns.empty()) return false;
  return llvm::all_of(std::array{a, b}, [&](const Product& p) {
    return sum.rows.without(dims_of(p.left)).empty() && sum.columns.without(dims_of(p.right)).empty();
  });
}

/// Two products of a sum, the second turned so that its sides are those of the first.
struct Pair {
  std::size_t first = 0, second = 0;  // of the terms
  Product a, b;
};

std::optional<Pair> pair_in(llvm::ArrayRef<Term> terms) {
  for (std::size_t i = 0; i < terms.size(); ++i)
    for (std::size_t j = i + 1; j < terms.size(); ++j) {
      const std::optional<Product> a = product_of(terms[i]), b = product_of(terms[j]);
      if (!a || !b) continue;
      for (const Product& turned : {*b, Product{b->right, b->left, b->over}})
        if (are_alike(*a, turned)) return Pair{i, j, *a, turned};
    }
  return std::nullopt;
}

Names united(Names a, const Names& b) {
  a.unite(b);
  return a;
}

/// The dims of the sum when the pair is joined at its first term, in their order, by which dropout numbers elements.
Names dims_joined(const Pair& pair, llvm::ArrayRef<Term> terms) {
  const auto rest = [](mlir::Value x, mlir::Value y, const Pair& p) {
    return united(dims_of(x).without({p.a.over}), dims_of(y).without({p.b.over}));
  };
  const Names joint = united(rest(pair.a.left, pair.b.left, pair), rest(pair.a.right, pair.b.right, pair));
  Names dims;
  for (std::size_t i = 0; i < terms.size(); ++i)
    if (i != pair.second) dims.unite(i == pair.first ? joint : dims_of(terms[i].value));
  return dims;
}

/// The two products as one, of the first one's sign.
mlir::Value joined(const Pair& pair, bool is_opposite, mlir::Operation* sum, PatternRewriter& rewriter) {
  const auto& [first, second, a, b] = pair;
  const auto add = [&](const AnyOp& op, mlir::ValueRange operands) { return add_operation(op, operands, sum, rewriter); };
  const auto both = [&](mlir::Value x, mlir::Value y) { return is_opposite ? add(Subtract{}, {x, y}) : add(Add{}, {x, y}); };
  if (a.over == b.over && a.left == b.left) return add(Matmul{{a.over}}, {a.left, both(a.right, b.right)});
  if (a.over == b.over && a.right == b.right) return add(Matmul{{a.over}}, {both(a.left, b.left), a.right});
  const Names along = a.over == b.over ? Names{a.over} : Names{a.over, b.over};
  const Name into = fresh_dim(sum->getParentOfType<mlir::func::FuncOp>(), fmt::format("{}_{}", std::string_view(a.over), std::string_view(b.over)));
  const mlir::Value left = is_opposite ? add(Negate{}, b.left) : b.left;
  return add(Matmul{{into}}, {add(Concat{along, into}, {a.left, left}), add(Concat{along, into}, {a.right, b.right})});
}

mlir::Value sum_of(llvm::ArrayRef<Term> terms, mlir::Operation* like, PatternRewriter& rewriter) {
  mlir::Value total = terms[0].is_negative ? add_operation(Negate{}, terms[0].value, like, rewriter) : terms[0].value;
  for (const Term& term : terms.drop_front())
    total =
        term.is_negative ? add_operation(Subtract{}, {total, term.value}, like, rewriter) : add_operation(Add{}, {total, term.value}, like, rewriter);
  return total;
}

template <class Op>
struct JoinProducts : mlir::OpRewritePattern<GraphOp<Op>> {
  using mlir::OpRewritePattern<GraphOp<Op>>::OpRewritePattern;
  mlir::LogicalResult matchAndRewrite(GraphOp<Op> op, PatternRewriter& rewriter) const override {
    if (!is_sum(op) || !is_score(op->getResult(0))) return mlir::failure();
    llvm::SmallVector<Term> terms;
    collect_terms(op, false, terms);
    terms = ordered(std::move(terms));
    const std::optional<Pair> pair = pair_in(terms);
    if (!pair || dims_joined(*pair, terms) != dims_of(op->getResult(0)) || !has_room_for_dim(op)) return mlir::failure();
    terms[pair->first].value = joined(*pair, terms[pair->first].is_negative != terms[pair->second].is_negative, op, rewriter);
    terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(pair->second));
    rewriter.replaceOp(op, sum_of(terms, op, rewriter));
    return mlir::success();
  }
};

}  // namespace

void add_product_patterns(mlir::RewritePatternSet& patterns) { patterns.add<JoinProducts<Add>, JoinProducts<Subtract>>(patterns.getContext()); }

}  // namespace attune
