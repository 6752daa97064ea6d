#include "codegen/halide/numbers/low_bits.h"

#include <bit>
#include <cstdint>
#include <optional>

#include "codegen/halide/numbers/opaque_real.h"

namespace attune {
namespace {

using namespace Halide::Internal;
using Halide::Expr;

/// n of 32 and more, of 2^n.
std::optional<int> wide_power(std::uint64_t value) {
  if (!std::has_single_bit(value) || value < std::uint64_t{1} << 32) return std::nullopt;
  return std::countr_zero(value);
}

Expr low_bits(const Expr& x, int count) {
  const Expr bits = cast(x.type(), opaque_real(static_cast<float>(count)));
  return x - ((x >> bits) << bits);
}

class LowBits final : public IRMutator {
  using IRMutator::visit;
  Expr visit(const Call* op) override {
    const Expr same = IRMutator::visit(op);
    if (!op->is_intrinsic(Call::bitwise_and) || op->type.bits() != 64) return same;
    const auto* call = same.as<Call>();
    for (const int side : {0, 1})
      if (const auto mask = as_const_int(call->args[static_cast<std::size_t>(side)]))
        if (const auto bits = wide_power(static_cast<std::uint64_t>(*mask) + 1)) return low_bits(call->args[static_cast<std::size_t>(1 - side)], *bits);
    return same;
  }
  Expr visit(const Mod* op) override {
    const Expr same = IRMutator::visit(op);
    const auto divisor = op->type.is_int() && op->type.bits() == 64 ? as_const_int(op->b) : std::nullopt;
    const auto bits = divisor && *divisor > 0 ? wide_power(static_cast<std::uint64_t>(*divisor)) : std::nullopt;
    return bits ? low_bits(same.as<Mod>()->a, *bits) : same;
  }
};

}  // namespace

void take_low_bits_by_shifts(Halide::Pipeline& pipeline) { pipeline.add_custom_lowering_pass(new LowBits); }

}  // namespace attune
