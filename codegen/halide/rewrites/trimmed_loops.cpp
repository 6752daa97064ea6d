#include "codegen/halide/rewrites/trimmed_loops.h"

#include <string>

#include "codegen/halide/rewrites/seen_conditions.h"

namespace attune {
namespace {

using namespace Halide::Internal;
using Halide::Expr;

bool is_barrier(const Stmt& s) {
  const Evaluate* evaluated = s.as<Evaluate>();
  const Call* call = evaluated == nullptr ? nullptr : evaluated->value.as<Call>();
  return (call != nullptr && call->is_intrinsic(Call::gpu_thread_barrier)) || is_no_op(s);
}

/// The condition under which a loop's body does more than to wait; undefined where that is not one condition.
/// What lets in the body name is written out.
Expr condition_of(const Stmt& body) {
  if (const LetStmt* let = body.as<LetStmt>()) {
    const Expr condition = condition_of(let->body);
    return condition.defined() ? substitute(let->name, let->value, condition) : condition;
  }
  if (const Block* block = body.as<Block>()) {
    if (is_barrier(block->first)) return condition_of(block->rest);
    return is_barrier(block->rest) ? condition_of(block->first) : Expr();
  }
  const IfThenElse* branch = body.as<IfThenElse>();
  return branch != nullptr && !branch->else_case.defined() ? branch->condition : Expr();
}

/// The loop over a part of its range.
Stmt loop_over(const For* op, const Interval& range, const Stmt& body) {
  const Expr last = op->min + op->extent - 1;
  const Expr first_visited = range.has_lower_bound() ? max(op->min, range.min) : op->min,
             last_visited = range.has_upper_bound() ? min(last, range.max) : last;
  const std::string first_name = op->name + ".first", extent_name = op->name + ".visited";
  const Expr first = Variable::make(Halide::Int(32), first_name), extent = Variable::make(Halide::Int(32), extent_name);
  const Stmt loop = For::make(op->name, first, extent, op->for_type, op->partition_policy, op->device_api, body);
  return LetStmt::make(first_name, simplify(first_visited), LetStmt::make(extent_name, simplify(max(last_visited - first + 1, 0)), loop));
}

class TrimLoops final : public IRMutator {
  using IRMutator::visit;

  Stmt visit(const For* op) override {
    const bool was_on_device = is_on_device_;
    is_on_device_ = is_on_device_ || op->for_type == ForType::GPUBlock;
    const Stmt same = IRMutator::visit(op);
    is_on_device_ = was_on_device;
    const Expr condition = is_on_device_ && op->for_type == ForType::Serial ? condition_of(op->body) : Expr();
    if (!condition.defined()) return same;
    const Interval range = solve_for_outer_interval(simplify(seen_condition(condition)), op->name);
    return range.is_empty() || range.is_everything() ? same : loop_over(op, range, same.as<For>()->body);
  }

  bool is_on_device_ = false;
};

/// Solving gives names to parts, new ones each time.
bool are_same(const Expr& a, const Expr& b) { return equal(substitute_in_all_lets(a), substitute_in_all_lets(b)); }

class LimitLoops final : public IRMutator {
  using IRMutator::visit;

  Stmt visit(const For* op) override {
    const Stmt same = IRMutator::visit(op);
    const For* loop = same.as<For>();
    const IfThenElse* branch = loop->for_type == ForType::Serial ? loop->body.as<IfThenElse>() : nullptr;
    if (branch == nullptr || branch->else_case.defined() || !Call::as_intrinsic(branch->condition, {Call::return_second})) return same;
    const Expr condition = seen_condition(branch->condition);
    const Interval range = solve_for_outer_interval(condition, loop->name), certain = solve_for_inner_interval(condition, loop->name);
    const bool is_range = !range.is_empty() && !range.is_everything() && are_same(range.min, certain.min) && are_same(range.max, certain.max);
    return is_range ? loop_over(loop, range, branch->then_case) : same;
  }
};

}  // namespace

Stmt with_trimmed_loops(const Stmt& s) { return TrimLoops().mutate(s); }

Stmt with_limited_loops(const Stmt& s) { return LimitLoops().mutate(s); }

}  // namespace attune
