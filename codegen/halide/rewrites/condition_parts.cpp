#include "codegen/halide/rewrites/condition_parts.h"

#include <algorithm>

#include "codegen/halide/rewrites/holds_loads.h"

using namespace Halide::Internal;
using Halide::Expr;

namespace attune {
namespace {

using Parts = std::vector<Expr>;

/// Of a condition: of more it is not worth while to look for each.
constexpr std::size_t most_parts = 32;

/// The two comparisons, or the alternatives, of which a comparison of integers is made; empty if it is not.
template <typename Less>
Parts taken_apart(const Expr& condition) {
  const auto* less = condition.as<Less>();
  if (less == nullptr || less->a.type().is_float() || !condition.type().is_scalar()) return {};
  if (const auto* least = less->b.template as<Min>()) return {Less::make(less->a, least->a), Less::make(less->a, least->b)};
  if (const auto* greatest = less->a.template as<Max>()) return {Less::make(greatest->a, less->b), Less::make(greatest->b, less->b)};
  const auto* choice = less->b.template as<Select>();
  if (choice == nullptr || !is_const(less->a) || !is_const(choice->true_value)) return {};
  if (!is_const_one(simplify(Less::make(less->a, choice->true_value)))) return {};
  Parts parts = parts_of(Less::make(less->a, choice->false_value));
  for (Expr& part : parts) part = choice->condition || part;
  return parts;
}

void add_parts(const Expr& condition, Parts& parts) {
  if (parts.size() > most_parts) return;
  Parts inner;
  if (const auto* both = condition.as<And>()) inner = {both->a, both->b};
  if (const Call* call = Call::as_intrinsic(condition, {Call::likely, Call::likely_if_innermost})) inner = {call->args[0]};
  if (const auto* let = condition.as<Let>()) inner = {graph_substitute(let->name, let->value, let->body)};
  if (inner.empty()) inner = taken_apart<LT>(condition);
  if (inner.empty()) inner = taken_apart<LE>(condition);
  for (const Expr& part : inner) add_parts(part, parts);
  if (inner.empty()) parts.push_back(condition);
}

/// Operands of one operation that is associative, in any order.
template <typename Operation>
void add_operands(const Expr& e, Parts& operands) {
  if (const auto* both = e.as<Operation>()) {
    add_operands<Operation>(both->a, operands);
    add_operands<Operation>(both->b, operands);
  } else {
    operands.push_back(e);
  }
}

/// Puts values in the place of names, and operands in one order.
class SpellOut : public IRGraphMutator {
 public:
  explicit SpellOut(const std::map<std::string, Expr>& values) : values_(values) {}

 private:
  using IRGraphMutator::visit;
  Expr visit(const Variable* op) override {
    const auto found = values_.find(op->name);
    return found == values_.end() ? Expr(op) : mutate(found->second);
  }
  Expr visit(const Let* op) override { return mutate(graph_substitute(op->name, op->value, op->body)); }
  Expr visit(const Add* op) override { return op->type.is_float() ? IRGraphMutator::visit(op) : in_order(op); }
  Expr visit(const Mul* op) override { return op->type.is_float() ? IRGraphMutator::visit(op) : in_order(op); }
  Expr visit(const Min* op) override { return op->type.is_float() ? IRGraphMutator::visit(op) : in_order(op); }
  Expr visit(const Max* op) override { return op->type.is_float() ? IRGraphMutator::visit(op) : in_order(op); }
  Expr visit(const And* op) override { return in_order(op); }
  Expr visit(const Or* op) override { return in_order(op); }

  template <typename Operation>
  Expr in_order(const Operation* op) {
    Parts operands;
    add_operands<Operation>(mutate(op->a), operands);
    add_operands<Operation>(mutate(op->b), operands);
    std::ranges::sort(operands, [](const Expr& a, const Expr& b) { return graph_less_than(a, b); });
    Expr all = operands.front();
    for (auto next = operands.begin() + 1; next != operands.end(); ++next) all = Operation::make(all, *next);
    return all;
  }

  const std::map<std::string, Expr>& values_;
};

bool is_among(const Parts& all, const Expr& one) {
  return std::ranges::any_of(all, [&](const Expr& e) { return graph_equal(e, one); });
}

}  // namespace

Parts parts_of(const Expr& condition) {
  Parts parts;
  add_parts(condition, parts);
  return parts.size() <= most_parts ? parts : Parts{condition};
}

Expr all_of(const Parts& parts) {
  if (parts.empty()) return const_true();
  Expr all = parts.front();
  for (auto next = parts.begin() + 1; next != parts.end(); ++next) all = all && *next;
  return common_subexpression_elimination(all);
}

void KnownParts::add(const Expr& part) { known_.push_back(spelled_out(part)); }

bool KnownParts::holds(const Expr& part) const {
  const AnyOf any = spelled_out(part);
  for (const Expr& one : any) {
    if (is_const_one(one)) return true;
    Parts all;
    add_operands<And>(one, all);
    if (all.size() > 1 && std::ranges::all_of(all, [&](const Expr& e) { return is_const_one(rest_of(e)); })) return true;
  }
  return std::ranges::any_of(known_, [&](const AnyOf& known) {
    return std::ranges::all_of(known, [&](const Expr& one) { return is_among(any, one); });
  });
}

Expr KnownParts::rest_of(const Expr& condition) const {
  Parts parts = parts_of(condition);
  const std::size_t all = parts.size();
  std::erase_if(parts, [&](const Expr& part) { return holds(part); });
  return parts.size() == all ? condition : all_of(parts);
}

KnownParts::AnyOf KnownParts::spelled_out(const Expr& part) const {
  AnyOf any;
  add_operands<Or>(SpellOut(values_).mutate(part), any);
  return any;
}

}  // namespace attune
