/// How elements are loaded and stored: as numbers of the language, whatever their storage.
#pragma once

#include "codegen/halide/numbers/lowered.h"
#include "codegen/targets/element.h"
#include "codegen/targets/machine.h"

namespace attune {

/// An element of memory as a number of the language; `place` innermost first.
Lowered loaded(const Halide::ImageParam& memory, const std::vector<Halide::Expr>& place, Element element);

/// How Halide has elements in memory: bf16 by its bits, and f16 on devices.
Halide::Type type_in_memory(Element element, Device device);

/// A number as it is stored: rounded to nearest, ties to even. In f16 what is beyond 65504 is infinite.
Halide::Expr as_stored(const Halide::Expr& e, Element element, Device device);

}  // namespace attune
