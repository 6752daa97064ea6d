/// Minus infinity where a predicate is false.
#pragma once

#include <limits>

#include "dsl/ops/constant.h"
#include "dsl/ops/logic.h"

namespace attune {

struct Mask {
  static constexpr std::string_view name = "mask", meaning = "predicate ? x : -inf";
  static constexpr int arity = 2;
  static constexpr auto fields = std::tuple{};

  /// Refuses an x that is not real, a predicate that is not boolean, and one with dims that x does not have: it would widen the scores, which
  /// select does where it is meant.
  constexpr Text check(std::span<const Type> in) const {
    if (in[0].kind != Kind::real) return sentence("x is ", in[0].kind, "; it must be real (to_real converts)");
    if (in[1].kind != Kind::boolean) return sentence("the predicate is ", in[1].kind, "; it must be boolean, true where x is kept");
    for (Name dim : in[1].dims)
      if (!in[0].dims.has(dim)) return sentence("the predicate has ", dim, ", which x does not have: x is ", in[0].dims);
    return {};
  }
  constexpr Value expand(std::span<const Value> in, Here at) const {
    const Value hidden = literal(in[0].graph, -std::numeric_limits<double>::infinity(), Kind::real, at);
    return call(Select{}, {in[1], in[0], hidden}, at);
  }
};

constexpr Value mask(Value x, Value predicate, Here at = Here::current()) { return call(Mask{}, {x, predicate}, at); }

}  // namespace attune
