/// A smooth maximum of x and 0.
#pragma once

#include "dsl/ops/arithmetic.h"
#include "dsl/ops/constant.h"
#include "dsl/ops/functions.h"

namespace attune {

struct Softplus {
  static constexpr std::string_view name = "softplus", meaning = "ln(1 + exp(x)) = max(x, 0) + ln(1 + exp(-|x|)), which is finite for every finite x";
  static constexpr int arity = 1;
  static constexpr auto fields = std::tuple{};

  /// Refuses an x that is not real.
  constexpr Text check(std::span<const Type> in) const {
    if (in[0].kind != Kind::real) return sentence("x is ", in[0].kind, "; it must be real (to_real converts)");
    return {};
  }
  constexpr Value expand(std::span<const Value> in, Here at) const {
    const auto real = [&](double x) { return literal(in[0].graph, x, Kind::real, at); };
    const Value small = call(Exp{}, {call(Negate{}, {call(Abs{}, {in[0]}, at)}, at)}, at);
    return call(Add{}, {call(Maximum{}, {in[0], real(0)}, at), call(Log{}, {call(Add{}, {real(1), small}, at)}, at)}, at);
  }
};

constexpr Value softplus(Value x, Here at = Here::current()) { return call(Softplus{}, {x}, at); }

}  // namespace attune
