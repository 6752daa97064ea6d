/// Elements of memory, as what is made of them knows them.
#pragma once

#include <Halide.h>

#include <optional>
#include <vector>

#include "codegen/targets/element.h"

namespace attune {

/// An element of memory. The number that it stands for is that of `stored` times the factor.
struct Load {
  Element element;
  Halide::Expr stored;              ///< as memory holds it: of bf16 an UInt(16)
  Halide::Parameter memory;
  std::vector<Halide::Expr> place;  ///< indices, innermost first
  Halide::Expr factor = 1.f;        ///< reads no memory

  std::optional<float> constant_factor() const;
  /// The factor is the same of all elements: made of constants and extents.
  bool has_uniform_factor() const;
};

/// An element of some memory, of an input or of another Func.
bool is_read(const Halide::Internal::Call* call);

/// What it reads, as long as the expression lives.
std::vector<const Halide::Internal::Call*> reads_of(const Halide::Expr& e);

bool reads_memory(const Halide::Expr& e);

}  // namespace attune
