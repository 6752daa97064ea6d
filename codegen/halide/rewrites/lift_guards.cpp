#include "codegen/halide/rewrites/lift_guards.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/halide/rewrites/condition_parts.h"
#include "codegen/halide/rewrites/holds_loads.h"

using namespace Halide::Internal;
using Halide::Expr;

namespace attune {
namespace {

using Conditions = std::vector<Expr>;

/// The parts of a condition that load something; Halide moves the others itself.
void add_loading_parts(const Expr& condition, Conditions& parts) {
  if (!condition.type().is_scalar() || !holds_loads(condition)) return;
  for (const Expr& part : parts_of(condition))
    if (holds_loads(part)) parts.push_back(part);
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

bool loads_any_of(const Expr& e, const std::set<std::string>& memory) {
  class Visitor : public IRGraphVisitor {
   public:
    explicit Visitor(const std::set<std::string>& names) : names_(names) {}
    bool is_found = false;

   private:
    using IRGraphVisitor::visit;
    void visit(const Load* op) override {
      is_found |= names_.contains(op->name);
      IRGraphVisitor::visit(op);
    }
    const std::set<std::string>& names_;
  } visitor(memory);
  e.accept(&visitor);
  return visitor.is_found;
}

/// The conditions without which nothing is done that can be seen outside; nothing if nothing is done at all.
class Guards {
 public:
  explicit Guards(const Names& inside) : inside_(inside) {}

  std::optional<Conditions> of(const Stmt& s) const {
    if (!s.defined()) return {};
    if (const auto* op = s.as<LetStmt>()) {
      std::optional<Conditions> guards = of(op->body);
      if (guards)
        for (Expr& guard : *guards) guard = graph_substitute(op->name, op->value, guard);
      return guards;
    }
    if (const auto* op = s.as<Block>()) return both(of(op->first), of(op->rest));
    if (const auto* op = s.as<Fork>()) return both(of(op->first), of(op->rest));
    if (const auto* op = s.as<IfThenElse>()) {
      if (op->else_case.defined()) return both(of(op->then_case), of(op->else_case));
      std::optional<Conditions> guards = of(op->then_case);
      if (guards) add_loading_parts(op->condition, *guards);
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
    class Visitor : public IRGraphVisitor {
     public:
      explicit Visitor(const Names& inside) : inside_(inside) {}
      bool is_known = true;

     private:
      using IRGraphVisitor::visit;
      void visit(const Variable* op) override { is_known &= !inside_.defined.contains(op->name); }
      void visit(const Load* op) override {
        is_known &= !inside_.allocated.contains(op->name) && !inside_.written.contains(op->name);
        IRGraphVisitor::visit(op);
      }
      void visit(const Call* op) override {
        is_known &= op->is_pure();
        IRGraphVisitor::visit(op);
      }
      const Names& inside_;
    } visitor(inside_);
    condition.accept(&visitor);
    return visitor.is_known;
  }

 private:
  static std::optional<Conditions> both(std::optional<Conditions> a, const std::optional<Conditions>& b) {
    if (!a || !b) return a ? a : b;
    if (a->empty()) return a;
    KnownParts without;  // nothing of b is done without these; Halide may have them in another order than those of a
    for (const Expr& guard : *b) without.add(guard);
    std::erase_if(*a, [&](const Expr& guard) { return !without.holds(guard); });
    return a;
  }

  const Names& inside_;
};

class LiftGuards : public IRMutator {
 public:
  explicit LiftGuards(const Names& of_all) : of_all_(of_all) {}

 private:
  using IRMutator::visit;

  Stmt visit(const For* op) override {
    if (op->for_type != ForType::Serial) return IRMutator::visit(op);
    Names inside;
    op->body.accept(&inside);
    const Guards guards(inside);
    const std::optional<Conditions> asked = guards.of(op->body);
    if (!asked) return Evaluate::make(0);
    Conditions lifted;
    const std::size_t known_before = known_.count();
    for (const Expr& guard : *asked) {
      if (!guards.is_known_before(guard) || known_.holds(guard)) continue;
      lifted.push_back(guard);
      known_.add(guard);
    }
    Stmt body = mutate(op->body);
    known_.forget_beyond(known_before);
    // the first condition becomes the outermost
    for (auto guard = lifted.rbegin(); guard != lifted.rend(); ++guard) body = IfThenElse::make(common_subexpression_elimination(*guard), body);
    return For::make(op->name, op->min, op->extent, op->for_type, op->partition_policy, op->device_api, body);
  }

  Stmt visit(const LetStmt* op) override {
    const Expr value = op->value.type() == Halide::Bool() ? rest_of(op->value) : op->value;
    // What it was made of may be another value where its name is read.
    if (!loads_any_of(value, of_all_.written)) known_.define(op->name, value);
    const Stmt body = mutate(op->body);
    return value.same_as(op->value) && body.same_as(op->body) ? Stmt(op) : LetStmt::make(op->name, value, body);
  }

  /// What a branch asks is known in it.
  Stmt visit(const IfThenElse* op) override {
    if (op->else_case.defined() || !op->condition.type().is_scalar()) return IRMutator::visit(op);
    const Expr rest = rest_of(op->condition);
    Names inside;
    op->then_case.accept(&inside);
    const Guards guards(inside);
    Conditions asked;
    add_loading_parts(rest, asked);
    const std::size_t known_before = known_.count();
    for (const Expr& part : asked)
      if (guards.is_known_before(part)) known_.add(part);
    const Stmt body = mutate(op->then_case);
    known_.forget_beyond(known_before);
    return is_const_one(rest) ? body : IfThenElse::make(rest, body);
  }

  Expr rest_of(const Expr& condition) const { return known_.is_empty() ? condition : known_.rest_of(condition); }

  const Names& of_all_;
  KnownParts known_;  // what holds where the statement is
};

class Pass : public IRMutator {
 public:
  using IRMutator::mutate;
  Stmt mutate(const Stmt& s) override { return lift_guards(s); }
};

}  // namespace

Stmt lift_guards(const Stmt& s) {
  Names of_all;
  s.accept(&of_all);
  return LiftGuards(of_all).mutate(s);
}

void lift_guards(Halide::Pipeline& pipeline) { pipeline.add_custom_lowering_pass(new Pass); }

}  // namespace attune
