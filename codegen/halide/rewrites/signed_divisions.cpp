#include "codegen/halide/rewrites/signed_divisions.h"

namespace attune {
namespace {

using Halide::Expr;
using Halide::Internal::IRMutator;

class UnsignedDivisions final : public IRMutator {
  using IRMutator::visit;
  Expr visit(const Halide::Internal::Div* division) override {
    return is_wrong(division->a, division->b) ? quotient(mutate(division->a), division->b) : IRMutator::visit(division);
  }
  Expr visit(const Halide::Internal::Mod* division) override {
    if (!is_wrong(division->a, division->b)) return IRMutator::visit(division);
    const Expr dividend = mutate(division->a);
    return dividend - quotient(dividend, division->b) * division->b;
  }

  static bool is_wrong(const Expr& dividend, const Expr& divisor) {
    return dividend.type().is_int() && dividend.type().bits() == 32 && is_positive_const(divisor) && !is_const_power_of_two_integer(divisor);
  }

  /// Rounded down: ~x is -x - 1.
  static Expr quotient(const Expr& dividend, const Expr& divisor) {
    const Halide::Type whole = dividend.type().with_code(halide_type_uint);
    const Expr is_negative = dividend < 0, size = Halide::cast(whole, select(is_negative, ~dividend, dividend));
    const Expr of_size = Halide::cast(dividend.type(), size / Halide::cast(whole, divisor));
    return select(is_negative, ~of_size, of_size);
  }
};

}  // namespace

Halide::Internal::Stmt without_signed_divisions(const Halide::Internal::Stmt& s) { return UnsignedDivisions().mutate(s); }

}  // namespace attune
