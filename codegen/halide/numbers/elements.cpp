#include "codegen/halide/numbers/elements.h"

#include "codegen/halide/numbers/bf16.h"
#include "codegen/halide/numbers/f16.h"
#include "runtime/halide_type.h"

namespace attune {
namespace {

Lowered number_of(const Halide::Expr& stored, Element element) {
  switch (element) {
    case Element::bf16: return {bf16_value(stored)};
    case Element::f16: return {stored.type().is_float() ? Halide::cast<float>(stored) : f16_value(stored)};
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

Halide::Type type_in_memory(Element element, Device device) {
  return element == Element::f16 && device != Device::cpu ? Halide::UInt(16) : Halide::Type(halide_type_of(stored_as(element)));
}

Halide::Expr as_stored(const Halide::Expr& e, Element element, Device device) {
  if (element == Element::bf16) return bf16_bits(e);
  const Halide::Type type = type_in_memory(element, device);
  return element == Element::f16 && !type.is_float() ? f16_bits(e) : Halide::cast(type, e);
}

}  // namespace attune
