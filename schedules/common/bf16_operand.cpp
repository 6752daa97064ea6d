#include "schedules/common/bf16_operand.h"

#include "codegen/halide/numbers/bf16.h"

using Halide::Expr;

namespace attune {

std::optional<Bf16Operand> bf16_operand(const Piece& piece, const Coordinates& at, Element products) {
  const Lowered element = piece.element(at);
  // An infinite factor makes NaN of a sum of products of both signs, and an infinity of the sum.
  const bool is_bf16 = element.load && element.load->element == Element::bf16 && element.load->has_uniform_factor() && !element.may_be_special;
  if (is_bf16) return Bf16Operand{element.load->stored, element.load->factor};
  if (products != Element::bf16) return {};
  return Bf16Operand{bf16_bits(Halide::cast<float>(element.expr)), 1.f};
}

Expr factor_of_sum(const Expr& factor, const Expr& terms) {
  const Expr known = Halide::Internal::simplify(factor);
  return is_const(known) ? known : Halide::Internal::simplify(select(terms > 0, known, 0.f));
}

}  // namespace attune
