#include "codegen/halide/numbers/elements.h"

#include "codegen/halide/numbers/bf16.h"
#include "runtime/halide_type.h"

namespace attune {

Lowered loaded(const Halide::Expr& e, Element element) {
  switch (element) {
    case Element::bf16: return {bf16_value(e)};
    case Element::f16: return {Halide::cast<float>(e)};
    case Element::boolean: return {e != 0};
    default: return Lowered::of(e);
  }
}

Halide::Expr as_stored(const Halide::Expr& e, Element element) {
  return element == Element::bf16 ? bf16_bits(e) : Halide::cast(halide_type_of(stored_as(element)), e);
}

}  // namespace attune
