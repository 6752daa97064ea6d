#include "codegen/halide/numbers/opaque_real.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

namespace attune {
namespace {

using namespace Halide::Internal;

// LLVM moves nothing across it and takes nothing for granted about its result, and it is no instruction.
const std::string fence = "llvm.arithmetic.fence.f32";

/// 1, of which LLVM knows no more than that it is finite, as Halide says of every call.
Halide::Expr unknown_one() { return Call::make(Halide::Float(32), fence, {Halide::Expr(1.f)}, Call::PureExtern); }

class FindOnHost : public IRMutator {
 public:
  using IRMutator::mutate;
  Halide::Internal::Stmt mutate(const Halide::Internal::Stmt& s) override {
    if (is_inside_) return IRMutator::mutate(s);
    is_inside_ = true;
    const Halide::Internal::Stmt body = IRMutator::mutate(s);
    is_inside_ = false;
    return is_found_ ? LetStmt::make(name_, unknown_one(), body) : body;
  }

 private:
  using IRMutator::visit;
  Halide::Expr visit(const Call* call) override {
    if (call->name != fence) return IRMutator::visit(call);
    is_found_ = true;
    return Variable::make(Halide::Float(32), name_);
  }

  const std::string name_ = unique_name("attune_one");
  bool is_inside_ = false, is_found_ = false;
};

}  // namespace

// The bits of 1 are turned into those of the value, for a call's result is said to be finite.
Halide::Expr opaque_real(float value) {
  const std::uint32_t turned = std::bit_cast<std::uint32_t>(value) ^ std::bit_cast<std::uint32_t>(1.f);
  return Halide::reinterpret<float>(Halide::reinterpret<std::uint32_t>(unknown_one()) ^ Halide::Expr(turned));
}

bool needs_opaque_real(float value) {
  constexpr float large = 0x1p40f, small = 0x1p-40f;
  return value != 0 && !(std::abs(value) <= large && std::abs(value) >= small);
}

void find_opaque_reals_on_host(Halide::Pipeline& pipeline) { pipeline.add_custom_lowering_pass(new FindOnHost); }

}  // namespace attune
