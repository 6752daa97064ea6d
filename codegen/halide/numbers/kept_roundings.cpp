#include "codegen/halide/numbers/kept_roundings.h"

#include "codegen/halide/numbers/opaque_real.h"

namespace attune {
namespace {

using namespace Halide::Internal;
using Halide::Expr;

class KeepRoundings final : public IRMutator {
  using IRMutator::visit;
  Expr visit(const Call* op) override {
    const Expr same = IRMutator::visit(op);
    for (const Call::IntrinsicOp rounds : {Call::strict_add, Call::strict_sub, Call::strict_mul, Call::strict_div})
      if (op->is_intrinsic(rounds)) return same * (op->type.is_vector() ? Broadcast::make(opaque_real(1.f), op->type.lanes()) : opaque_real(1.f));
    return same;
  }
};

}  // namespace

void keep_roundings(Halide::Pipeline& pipeline) { pipeline.add_custom_lowering_pass(new KeepRoundings); }

}  // namespace attune
