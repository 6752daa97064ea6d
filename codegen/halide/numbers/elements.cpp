#include "codegen/halide/numbers/elements.h"

#include "codegen/halide/numbers/bf16.h"
#include "runtime/halide_type.h"

namespace attune {
namespace {

Lowered number_of(const Halide::Expr& stored, Element element) {
  switch (element) {
    case Element::bf16: return {bf16_value(stored)};
    case Element::f16: return {Halide::cast<float>(stored)};
    case Element::boolean: return {stored != 0};
    default: return Lowered::of(stored);
  }
}

}  // namespace

Lowered loaded(const Halide::ImageParam& memory, const std::vector<Halide::Expr>& place, Element element) {
  const Halide::Expr stored = memory(place);
  Lowered number = number_of(stored, element);
  number.load = std::make_shared<const Load>(Load{element, stored, memory.parameter(), place});
  return number;
}

Halide::Expr as_stored(const Halide::Expr& e, Element element) {
  return element == Element::bf16 ? bf16_bits(e) : Halide::cast(halide_type_of(stored_as(element)), e);
}

}  // namespace attune
