/// The activation of SwiGLU: x where it is large, 0 where it is very negative.
#pragma once

#include "dsl/ops/arithmetic.h"
#include "dsl/ops/functions.h"

namespace attune {

struct Silu {
  static constexpr std::string_view name = "silu", meaning = "x / (1 + exp(-x)); Elfwing, Uchibe and Doya, 2017; swish with a factor of 1";
  static constexpr int arity = 1;
  static constexpr auto fields = std::tuple{};

  /// Refuses an x that is not real.
  constexpr Text check(std::span<const Type> in) const {
    if (in[0].kind != Kind::real) return sentence("x is ", in[0].kind, "; it must be real (to_real converts)");
    return {};
  }
  constexpr Value expand(std::span<const Value> in, Here at) const { return call(Multiply{}, {in[0], call(Sigmoid{}, {in[0]}, at)}, at); }
};

constexpr Value silu(Value x, Here at = Here::current()) { return call(Silu{}, {x}, at); }

}  // namespace attune
