/// Numbers that Halide's lowering takes as they are.
#pragma once

#include <Halide.h>

#include <string>
#include <vector>

namespace attune {

struct OpaqueNumber {
  std::string name;
  Halide::Expr value;
};

/// `value`, an int32 that follows from extents alone, or 1 if it is less, as a call that Halide's passes do not look behind; `numbers`
/// learns what it stands for. Bounds of nested loops that are cut by such numbers would hold their expressions many times over: four
/// products with attention between them took twice as long to compile.
Halide::Expr opaque(const Halide::Expr& value, std::vector<OpaqueNumber>& numbers);

/// Puts the values in place of the calls. To be a late step of the pipeline's lowering.
void define_numbers(Halide::Pipeline& pipeline, const std::vector<OpaqueNumber>& numbers);

}  // namespace attune
