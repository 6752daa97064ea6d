#include "codegen/halide/rewrites/hidden_bits.h"

#include <array>
#include <string>

namespace attune {
namespace {

using namespace Halide::Internal;

struct Hidden {
  Call::IntrinsicOp operation;
  std::string name;
};
const std::array<Hidden, 3> hidden = {
    {{Call::bitwise_and, "attune_and"}, {Call::bitwise_or, "attune_or"}, {Call::bitwise_xor, "attune_xor"}}};

/// Puts calls that say nothing in the place of the operations.
class HideBits final : public IRMutator {
 public:
  bool any = false;

 private:
  using IRMutator::visit;
  Halide::Expr visit(const Call* call) override {
    const Halide::Expr e = IRMutator::visit(call);
    for (const auto& [operation, name] : hidden)
      if (call->is_intrinsic(operation) && call->type.is_int()) {
        any = true;
        return Call::make(call->type, name, e.as<Call>()->args, Call::PureExtern);
      }
    return e;
  }
};

/// Puts the operations back.
class ShowBits final : public IRMutator {
  using IRMutator::visit;
  Halide::Expr visit(const Call* call) override {
    const Halide::Expr e = IRMutator::visit(call);
    for (const auto& [operation, name] : hidden)
      if (call->name == name) return Call::make(call->type, operation, e.as<Call>()->args, Call::PureIntrinsic);
    return e;
  }
};

}  // namespace

Stmt simplified_around_bits(const Stmt& s) {
  HideBits hide;
  const Stmt simplified = simplify(hide.mutate(s), false);
  return hide.any ? ShowBits().mutate(simplified) : simplified;
}

}  // namespace attune
