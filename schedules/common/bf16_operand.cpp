#include "schedules/common/bf16_operand.h"

#include "codegen/halide/numbers/bf16.h"

namespace attune {

std::optional<Bf16Operand> bf16_operand(const Piece& piece, const Coordinates& at, Element products) {
  const Lowered element = piece.element(at);
  if (element.load && element.load->element == Element::bf16 && element.load->has_uniform_factor()) return Bf16Operand{element.load->stored, element.load->factor};
  if (products != Element::bf16) return {};
  return Bf16Operand{bf16_bits(Halide::cast<float>(element.expr)), 1.f};
}

}  // namespace attune
