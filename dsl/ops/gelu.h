/// The activation of BERT and GPT-2: x times the chance that a standard normal number is below it.
#pragma once

#include "dsl/ops/arithmetic.h"
#include "dsl/ops/constant.h"
#include "dsl/ops/functions.h"

namespace attune {

struct Gelu {
  bool by_tanh = false;

  static constexpr std::string_view name = "gelu",
                                    meaning = "x (1 + erf(x / sqrt(2))) / 2; with `by_tanh` its approximation x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2. "
                                              "Hendrycks and Gimpel, 2016; ONNX's Gelu with `approximate` none and tanh";
  static constexpr int arity = 1;
  static constexpr auto fields = std::tuple{Field{"by_tanh", &Gelu::by_tanh}};

  /// Refuses an x that is not real.
  constexpr Text check(std::span<const Type> in) const {
    if (in[0].kind != Kind::real) return sentence("x is ", in[0].kind, "; it must be real (to_real converts)");
    return {};
  }
  constexpr Value expand(std::span<const Value> in, Here at) const {
    const auto times = [&](Value a, double b) { return call(Multiply{}, {a, literal(in[0].graph, b, Kind::real, at)}, at); };
    const auto plus_one = [&](Value a) { return call(Add{}, {a, literal(in[0].graph, 1, Kind::real, at)}, at); };
    const Value x = in[0], half = times(x, 0.5);
    if (!by_tanh) return call(Multiply{}, {half, plus_one(call(Erf{}, {times(x, 0.70710678118654752)}, at))}, at);
    const Value square = call(Multiply{}, {x, x}, at);
    const Value argument = call(Multiply{}, {times(x, 0.79788456080286536), plus_one(times(square, 0.044715))}, at);
    return call(Multiply{}, {half, plus_one(call(Tanh{}, {argument}, at))}, at);
  }
};

constexpr Value gelu(Value x, Here at = Here::current()) { return call(Gelu{}, {x}, at); }
constexpr Value gelu_by_tanh(Value x, Here at = Here::current()) { return call(Gelu{true}, {x}, at); }

}  // namespace attune
