#include "schedules/gemm/operand_reads.h"

#include <algorithm>

#include "codegen/halide/numbers/load.h"
#include "schedules/gemm/gemm_product.h"

using Halide::Expr;
using Halide::Var;

namespace attune {
namespace {

/// A function of a library takes as long as so many.
constexpr int operations_of_function = 12;

/// Counts what an element costs to compute beyond its loads, up to one more than `most`: an expression that shares its parts may be of very many.
class CountOperations : public Halide::Internal::IRVisitor {
 public:
  explicit CountOperations(int most) : most_(most) {}
  int count = 0;

 private:
  using IRVisitor::visit;
  void visit(const Halide::Internal::Call* call) override {
    if (is_read(call)) return;
    count += call->is_extern() ? operations_of_function : 1;
    if (count <= most_) IRVisitor::visit(call);
  }
  void visit(const Halide::Internal::Add* op) override { binary(op); }
  void visit(const Halide::Internal::Sub* op) override { binary(op); }
  void visit(const Halide::Internal::Mul* op) override { binary(op); }
  void visit(const Halide::Internal::Div* op) override { binary(op); }
  void visit(const Halide::Internal::Mod* op) override { binary(op); }
  void visit(const Halide::Internal::Min* op) override { binary(op); }
  void visit(const Halide::Internal::Max* op) override { binary(op); }
  void visit(const Halide::Internal::Select* op) override {
    ++count;
    if (count <= most_) IRVisitor::visit(op);
  }
  template <class Node>
  void binary(const Node* op) {
    ++count;
    if (count <= most_) IRVisitor::visit(op);
  }

  const int most_;
};

}  // namespace

Piece copied(const Piece& piece, const std::vector<std::string>& innermost, int lanes) {
  Piece copy = piece;
  if (!innermost.empty()) {
    const auto found = std::find(copy.dims.begin(), copy.dims.end(), innermost.back());
    if (found != copy.dims.end()) std::rotate(found, found + 1, copy.dims.end());
  }
  Halide::Func func("operand");
  func(result_vars(copy.dims)) = Halide::cast<float>(piece.at(vars_at(piece.dims)));
  func.compute_root();
  if (!copy.dims.empty()) func.vectorize(Var(copy.dims.back()), lanes, Halide::TailStrategy::GuardWithIf);
  copy.element = [func, dims = copy.dims](const Coordinates& where) { return Lowered{func(innermost_first(dims, where))}; };
  return copy;
}

bool is_cheap(const Piece& piece, int most) {
  Coordinates at;
  for (const std::string& dim : piece.dims) at[dim] = Var(dim);
  CountOperations operations(most);
  piece.at(at).accept(&operations);
  return operations.count <= most;
}

bool is_read_along(const Expr& value, const std::string& variable) {
  return std::ranges::any_of(reads_of(value), [&](const auto* read) { return Halide::Internal::expr_uses_var(read, variable); });
}

}  // namespace attune
