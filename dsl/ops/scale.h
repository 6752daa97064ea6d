/// A product with a factor that has no more dims than x.
#pragma once

#include "dsl/ops/arithmetic.h"

namespace attune {

struct Scale {
  static constexpr std::string_view name = "scale", meaning = "x * factor";
  static constexpr int arity = 2;
  static constexpr auto fields = std::tuple{};

  /// Refuses a factor with dims that x does not have, and kinds other than real.
  constexpr Text check(std::span<const Type> in) const {
    if (in[0].kind != Kind::real) return sentence("x is ", in[0].kind, "; it must be real (to_real converts)");
    if (in[1].kind != Kind::real) return sentence("factor is ", in[1].kind, "; it must be real (to_real converts)");
    for (Name dim : in[1].dims)
      if (!in[0].dims.has(dim)) return sentence("factor has ", dim, ", which x does not have: x is ", in[0].dims);
    return {};
  }
  constexpr Value expand(std::span<const Value> in, Here at) const { return call(Multiply{}, {in[0], in[1]}, at); }
};

constexpr Value scale(Value x, Operand factor, Here at = Here::current()) {
  return call(Scale{}, {x, factor.beside(Operand(x, at))}, at);
}

}  // namespace attune
