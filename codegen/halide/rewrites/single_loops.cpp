#include "codegen/halide/rewrites/single_loops.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace attune {
namespace {

using namespace Halide::Internal;
using Halide::Expr;

/// An integer: a number that is added to an unknown one, which equal expressions share; unknown 0 is none.
struct Known {
  int unknown = 0;
  std::int64_t added = 0;
  auto operator<=>(const Known&) const = default;
};

/// What expressions stand for, where they are sums, differences, minima, maxima and other operations of the same unknown numbers.
class Values {
 public:
  void define(const std::string& name, const Known& value) { of_names_[name] = value; }

  Known of(const Expr& e) {
    if (const auto* number = e.as<IntImm>()) return {0, number->value};
    if (const auto* variable = e.as<Variable>()) return of_name(variable->name);
    if (const Call* call = Call::as_intrinsic(e, {Call::likely, Call::likely_if_innermost})) return of(call->args[0]);
    if (const auto* op = e.as<Add>()) return sum(of(op->a), of(op->b));
    if (const auto* op = e.as<Sub>()) return difference(of(op->a), of(op->b));
    if (const auto* op = e.as<Min>()) return extreme(IRNodeType::Min, of(op->a), of(op->b));
    if (const auto* op = e.as<Max>()) return extreme(IRNodeType::Max, of(op->a), of(op->b));
    if (const auto* op = e.as<Mul>()) return operation(IRNodeType::Mul, of(op->a), of(op->b));
    if (const auto* op = e.as<Div>()) return operation(IRNodeType::Div, of(op->a), of(op->b));
    if (const auto* op = e.as<Mod>()) return operation(IRNodeType::Mod, of(op->a), of(op->b));
    return {++unknowns_, 0};
  }

 private:
  Known of_name(const std::string& name) {
    const auto [known, is_new] = of_names_.try_emplace(name);
    if (is_new) known->second.unknown = ++unknowns_;
    return known->second;
  }

  Known sum(const Known& a, const Known& b) {
    if (a.unknown == 0 || b.unknown == 0) return {a.unknown + b.unknown, a.added + b.added};
    return operation(IRNodeType::Add, a, b);
  }
  Known difference(const Known& a, const Known& b) {
    if (a.unknown == b.unknown) return {0, a.added - b.added};
    return b.unknown == 0 ? Known{a.unknown, a.added - b.added} : operation(IRNodeType::Sub, a, b);
  }
  Known extreme(IRNodeType kind, const Known& a, const Known& b) {
    if (a.unknown != b.unknown) return operation(kind, a, b);
    return {a.unknown, kind == IRNodeType::Min ? std::min(a.added, b.added) : std::max(a.added, b.added)};
  }
  Known operation(IRNodeType kind, const Known& a, const Known& b) {
    const auto [known, is_new] = of_operations_.try_emplace({kind, a, b});
    if (is_new) known->second = ++unknowns_;
    return {known->second, 0};
  }

  int unknowns_ = 0;
  std::map<std::string, Known> of_names_;
  std::map<std::tuple<IRNodeType, Known, Known>, int> of_operations_;
};

/// The loops' variables that prefetching names, without what stands before them.
class PrefetchedLoops final : public IRVisitor {
 public:
  std::set<std::string> names;

 private:
  using IRVisitor::visit;
  void visit(const Prefetch* op) override {
    names.insert({op->prefetch.at, op->prefetch.from});
    IRVisitor::visit(op);
  }
};

class WithoutSingleLoops final : public IRMutator {
 public:
  explicit WithoutSingleLoops(const std::set<std::string>& kept) : kept_(kept) {}

 private:
  using IRMutator::visit;

  Expr visit(const Variable* op) override {
    const auto first = first_.find(op->name);
    return first == first_.end() ? Expr(op) : first->second;
  }

  Stmt visit(const LetStmt* first) override {
    std::vector<std::pair<const LetStmt*, Expr>> lets;
    Stmt body;
    for (const LetStmt* let = first; let != nullptr; let = body.as<LetStmt>()) {
      lets.emplace_back(let, mutate(let->value));
      if (let->value.type() == Halide::Int(32)) values_.define(let->name, values_.of(lets.back().second));
      body = let->body;
    }
    body = mutate(body);
    for (auto let = lets.rbegin(); let != lets.rend(); ++let) {
      const bool is_same = body.same_as(let->first->body) && let->second.same_as(let->first->value);
      body = is_same ? Stmt(let->first) : LetStmt::make(let->first->name, let->second, body);
    }
    return body;
  }

  Stmt visit(const For* op) override {
    if (op->device_api != Halide::DeviceAPI::None || kept_.contains(op->name) || values_.of(op->extent) != Known{0, 1}) return IRMutator::visit(op);
    const Expr first = mutate(op->min);
    values_.define(op->name, values_.of(first));
    first_[op->name] = first;
    return mutate(op->body);
  }

  const std::set<std::string>& kept_;
  Values values_;
  std::map<std::string, Expr> first_;  // iterations, by the loops that are gone
};

}  // namespace

Stmt without_single_loops(const Stmt& s) {
  PrefetchedLoops prefetched;
  s.accept(&prefetched);
  return WithoutSingleLoops(prefetched.names).mutate(s);
}

}  // namespace attune
