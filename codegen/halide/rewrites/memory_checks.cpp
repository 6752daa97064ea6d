#include "codegen/halide/rewrites/memory_checks.h"

#include <limits>

namespace attune {
namespace {

using namespace Halide::Internal;
using Halide::Expr;

class LimitStoredElements : public IRMutator {
 private:
  using IRMutator::visit;

  Stmt visit(const Allocate* op) override {
    if (op->constant_allocation_size() > 0 || op->new_expr.defined() || op->extents.empty()) return IRMutator::visit(op);
    // In double precision the product does not overflow, and none above the limit is rounded to one below it.
    Expr count = 1, in_double = make_const(Halide::Float(64), 1);
    for (const Expr& extent : op->extents) {
      count = count * Halide::max(extent, 0);
      in_double = in_double * Halide::cast<double>(Halide::max(extent, 0));
    }
    const Stmt allocate = Allocate::make(op->name, op->type, op->memory_type, {simplify(count)}, op->condition, mutate(op->body),
                                         op->new_expr, op->free_function, op->padding);
    if (op->extents.size() == 1) return allocate;
    const Expr limit = make_const(Halide::Float(64), static_cast<double>(std::numeric_limits<std::int32_t>::max()));
    const Expr too_large = static_cast<int>(halide_error_code_buffer_allocation_too_large);
    return Block::make(AssertStmt::make(simplify(in_double <= limit || !op->condition), too_large), allocate);
  }
};

constexpr const char* promise_name = "attune_promise";

/// Promises as calls, which strip_asserts leaves.
class NamePromises : public IRMutator {
 private:
  using IRMutator::visit;

  Stmt visit(const AssertStmt* op) override {
    const auto* message = op->message.as<Call>();
    if (message == nullptr) return op;
    const auto promise = [&](int code) { return Evaluate::make(Call::make(Halide::Int(32), promise_name, {op->condition, code}, Call::Extern)); };
    if (message->name == "halide_error_explicit_bounds_too_small") return promise(halide_error_code_explicit_bounds_too_small);
    return message->name == "halide_error_storage_bound_too_small" ? promise(halide_error_code_storage_bound_too_small) : Stmt(op);
  }
};

class CheckPromises : public IRMutator {
 private:
  using IRMutator::visit;

  Stmt visit(const Evaluate* op) override {
    const auto* call = op->value.as<Call>();
    return call != nullptr && call->name == promise_name ? AssertStmt::make(call->args[0], call->args[1]) : Stmt(op);
  }
};

}  // namespace

Stmt with_checked_promises(const Stmt& s) { return CheckPromises().mutate(strip_asserts(NamePromises().mutate(s))); }

void limit_stored_elements(Halide::Pipeline& pipeline) { pipeline.add_custom_lowering_pass(new LimitStoredElements); }

/// The feature makes indices 64 bits wide in lowering, which is over; in code generation it moves the limit on bytes alone, out of reach.
Halide::Target with_checked_sizes(const Halide::Target& target) { return target.with_feature(Halide::Target::LargeBuffers); }

}  // namespace attune
