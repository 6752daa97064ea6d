/// Integers of few bits, which the language calculates with in more.
#pragma once

#include "dsl/graph.h"
#include "tools/onnx/element.h"

namespace attune {

/// Integers that are kept modulo a power of two: those of 8 and 16 bits, and of 32 without a sign. Of all others no more is expected than they hold.
struct Width {
  int bits = 0;  ///< 0: not such ones
  bool is_signed = true;
};
Width width_of(const OnnxElement& element);
double wrapped(double x, Width width);
Value wrapped(Value x, Width width);

}  // namespace attune
