#include "codegen/halide/rewrites/lift_guards.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/halide/rewrites/holds_loads.h"

using namespace Halide::Internal;
using Halide::Expr;

namespace attune {
namespace {

using Conditions = std::vector<Expr>;

/// The parts of a condition that must all hold and load something; Halide moves the others itself.
void add_parts(const Expr& condition, Conditions& parts) {
  if (const auto* both = condition.as<And>()) {
    add_parts(both->a, parts);
    add_parts(both->b, parts);
  } else if (const Call* call = Call::as_intrinsic(condition, {Call::likely, Call::likely_if_innermost})) {
    add_parts(call->args[0], parts);
  } else if (condition.type().is_scalar() && holds_loads(condition)) {
    parts.push_back(condition);
  }
}

bool contains(const Conditions& all, const Expr& one) {
  return std::ranges::any_of(all, [&](const Expr& e) { return equal(e, one); });
}

/// The names that a statement gives to values, loops and memory, and the memory that it writes.
class Names : public IRVisitor {
 public:
  std::set<std::string> defined, allocated, written;

 private:
  using IRVisitor::visit;
  void visit(const LetStmt* op) override { defined.insert(op->name), IRVisitor::visit(op); }
  void visit(const For* op) override { defined.insert(op->name), IRVisitor::visit(op); }
  void visit(const Allocate* op) override { allocated.insert(op->name), IRVisitor::visit(op); }
  void visit(const Store* op) override { written.insert(op->name), IRVisitor::visit(op); }
};

/// The conditions without which nothing is done that can be seen outside; nothing if nothing is done at all.
class Guards {
 public:
  explicit Guards(const Names& inside) : inside_(inside) {}

  std::optional<Conditions> of(const Stmt& s) const {
    if (!s.defined()) return {};
    if (const auto* op = s.as<LetStmt>()) {
      std::optional<Conditions> guards = of(op->body);
      if (guards)
        for (Expr& guard : *guards) guard = substitute(op->name, op->value, guard);
      return guards;
    }
    if (const auto* op = s.as<Block>()) return both(of(op->first), of(op->rest));
    if (const auto* op = s.as<Fork>()) return both(of(op->first), of(op->rest));
    if (const auto* op = s.as<IfThenElse>()) {
      if (op->else_case.defined()) return both(of(op->then_case), of(op->else_case));
      std::optional<Conditions> guards = of(op->then_case);
      if (guards) add_parts(op->condition, *guards);
      return guards;
    }
    if (const auto* op = s.as<For>()) return of(op->body);
    if (const auto* op = s.as<ProducerConsumer>()) return of(op->body);
    if (const auto* op = s.as<Allocate>()) return of(op->body);
    // an assertion is about what is computed next to it
    if (s.as<Free>() != nullptr || s.as<Prefetch>() != nullptr || s.as<AssertStmt>() != nullptr) return {};
    if (const auto* op = s.as<Evaluate>(); op != nullptr && is_pure(op->value)) return {};
    if (const auto* op = s.as<Store>(); op != nullptr && inside_.allocated.contains(op->name)) return {};
    return Conditions{};
  }

  /// Known before the statement: what the condition names and loads is made elsewhere.
  bool is_known_before(const Expr& condition) const {
    class Visitor : public IRVisitor {
     public:
      explicit Visitor(const Names& inside) : inside_(inside) {}
      bool is_known = true;

     private:
      using IRVisitor::visit;
      void visit(const Variable* op) override { is_known &= !inside_.defined.contains(op->name); }
      void visit(const Load* op) override {
        is_known &= !inside_.allocated.contains(op->name) && !inside_.written.contains(op->name);
        IRVisitor::visit(op);
      }
      void visit(const Call* op) override {
        is_known &= op->is_pure();
        IRVisitor::visit(op);
      }
      const Names& inside_;
    } visitor(inside_);
    condition.accept(&visitor);
    return visitor.is_known;
  }

 private:
  static std::optional<Conditions> both(std::optional<Conditions> a, const std::optional<Conditions>& b) {
    if (!a || !b) return a ? a : b;
    std::erase_if(*a, [&](const Expr& e) { return !contains(*b, e); });
    return a;
  }

  const Names& inside_;
};

class LiftGuards : public IRMutator {
 private:
  using IRMutator::visit;

  Stmt visit(const For* op) override {
    if (op->for_type != ForType::Serial) return IRMutator::visit(op);
    Names inside;
    op->body.accept(&inside);
    const Guards guards(inside);
    Conditions lifted;
    const std::size_t known_before = known_.size();
    for (const Expr& guard : guards.of(op->body).value_or(Conditions{})) {
      const Expr spelled = spelled_out(guard);
      if (!guards.is_known_before(guard) || contains(known_, spelled)) continue;
      lifted.push_back(guard);
      known_.push_back(spelled);
    }
    Stmt body = mutate(op->body);
    known_.resize(known_before);
    // the first condition becomes the outermost
    for (auto guard = lifted.rbegin(); guard != lifted.rend(); ++guard) body = IfThenElse::make(*guard, body);
    return For::make(op->name, op->min, op->extent, op->for_type, op->partition_policy, op->device_api, body);
  }

  Stmt visit(const LetStmt* op) override {
    lets_.emplace_back(op->name, op->value);
    Stmt result = IRMutator::visit(op);
    lets_.pop_back();
    return result;
  }

  Stmt visit(const IfThenElse* op) override {
    if (op->else_case.defined() || known_.empty()) return IRMutator::visit(op);
    const Expr rest = without_known(op->condition);
    Stmt body = mutate(op->then_case);
    return rest.defined() ? IfThenElse::make(rest, body) : body;
  }

  /// The condition without the parts that are known to hold; undefined if none is left.
  Expr without_known(const Expr& condition) const {
    if (const auto* both = condition.as<And>()) {
      const Expr a = without_known(both->a), b = without_known(both->b);
      if (!a.defined() || !b.defined()) return a.defined() ? a : b;
      return a && b;
    }
    Expr plain = condition;
    if (const Call* call = Call::as_intrinsic(condition, {Call::likely, Call::likely_if_innermost})) plain = call->args[0];
    return contains(known_, spelled_out(plain)) ? Expr() : condition;
  }

  /// Without the names that are given to its parts, so that equal conditions look equal.
  Expr spelled_out(Expr condition) const {
    for (auto inner = lets_.rbegin(); inner != lets_.rend(); ++inner) condition = substitute(inner->first, inner->second, condition);
    return condition;
  }

  std::vector<std::pair<std::string, Expr>> lets_;  // around the statement, outermost first
  Conditions known_;                                // what holds where the statement is, spelled out
};

}  // namespace

Stmt lift_guards(const Stmt& s) { return LiftGuards().mutate(s); }

void lift_guards(Halide::Pipeline& pipeline) { pipeline.add_custom_lowering_pass(new LiftGuards); }

}  // namespace attune
