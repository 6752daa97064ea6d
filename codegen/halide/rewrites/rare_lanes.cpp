#include "codegen/halide/rewrites/rare_lanes.h"

#include <utility>

using namespace Halide::Internal;
using Halide::Expr;

namespace attune {
namespace {

/// No other code of Attune or Halide chooses so between reals.
const Call* as_choice(const Expr& e) {
  const Call* call = Call::as_intrinsic(e, {Call::if_then_else});
  return call != nullptr && call->args.size() == 3 && call->type.element_of() == Halide::Float(32) ? call : nullptr;
}

/// Puts one of the two ways at the place of every choice.
class Choose : public IRMutator {
 public:
  explicit Choose(std::size_t way) : way_(way) {}
  using IRMutator::mutate;
  Expr mutate(const Expr& e) override {
    const Call* choice = as_choice(e);
    return choice != nullptr ? mutate(choice->args[way_]) : IRMutator::mutate(e);
  }

 private:
  const std::size_t way_;
};

Expr with_way(const Expr& e, std::size_t way) { return Choose(way).mutate(e); }

/// Whether any lane of a choice in an expression is rare. What is named around a choice is known to its condition.
class AnyRare : public IRVisitor {
 public:
  Expr found;

 private:
  using IRVisitor::visit;
  void visit(const Call* op) override {
    IRVisitor::visit(op);
    if (as_choice(op) == nullptr) return;
    Expr rare = with_way(op->args[0], 1);
    if (rare.type().is_vector()) rare = VectorReduce::make(VectorReduce::Or, rare, 1);
    found = found.defined() ? found || rare : rare;
  }
  void visit(const Let* op) override {
    op->value.accept(this);
    Expr before = std::exchange(found, Expr());
    op->body.accept(this);
    if (found.defined()) found = Let::make(op->name, with_way(op->value, 1), found);
    if (before.defined()) found = found.defined() ? before || found : before;
  }
};

class BranchOnRareLanes : public IRMutator {
 public:
  using IRMutator::mutate;
  Expr mutate(const Expr& e) override {
    AnyRare any;
    e.accept(&any);
    if (!any.found.defined()) return e;
    return Call::make(e.type(), Call::if_then_else, {any.found, with_way(e, 1), with_way(e, 2)}, Call::PureIntrinsic);
  }
};

class TakeRareWay : public IRMutator {
 public:
  using IRMutator::mutate;
  Expr mutate(const Expr& e) override { return with_way(e, 1); }
};

}  // namespace

Expr where_rare(const Expr& is_rare, const Expr& rarely, const Expr& mostly) {
  return Call::make(Halide::Float(32), Call::if_then_else, {is_rare, rarely, mostly}, Call::PureIntrinsic);
}

void branch_on_rare_lanes(Halide::Pipeline& pipeline) { pipeline.add_custom_lowering_pass(new BranchOnRareLanes); }

void take_rare_way(Halide::Pipeline& pipeline) { pipeline.add_custom_lowering_pass(new TakeRareWay); }

}  // namespace attune
