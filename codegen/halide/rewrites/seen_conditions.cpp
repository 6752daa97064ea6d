#include "codegen/halide/rewrites/seen_conditions.h"

namespace attune {
namespace {

class SeeConditions final : public Halide::Internal::IRMutator {
  using IRMutator::visit;
  Halide::Expr visit(const Halide::Internal::Call* op) override {
    return op->is_intrinsic(Halide::Internal::Call::return_second) ? mutate(op->args[1]) : IRMutator::visit(op);
  }
};

}  // namespace

void see_conditions(Halide::Pipeline& pipeline) { pipeline.add_custom_lowering_pass(new SeeConditions); }

Halide::Expr seen_condition(const Halide::Expr& condition) { return SeeConditions().mutate(condition); }

}  // namespace attune
