/// Normalisation by the root of the mean square.
#pragma once

#include "dsl/ops/functions.h"
#include "dsl/ops/mean.h"

namespace attune {

struct RmsNorm {
  Names over;
  double epsilon = 1e-5;

  static constexpr std::string_view name = "rms_norm",
                                    meaning = "x / sqrt(mean(x^2) + epsilon) * weight, the mean over `over`; Zhang and Sennrich, 2019";
  static constexpr int arity = 2;
  static constexpr auto fields = std::tuple{Field{"over", &RmsNorm::over}, Field{"epsilon", &RmsNorm::epsilon}};

  /// Refuses what mean refuses, a weight with dims that x does not have, and an epsilon below 0.
  constexpr Text check(std::span<const Type> in) const {
    if (Text problem = Mean{over}.check(in); !problem.empty()) return problem;
    if (in[1].kind != Kind::real) return sentence("weight is ", in[1].kind, "; it must be real (to_real converts)");
    for (Name dim : in[1].dims)
      if (!in[0].dims.has(dim)) return sentence("weight has ", dim, ", which x does not have: x is ", in[0].dims);
    if (!(epsilon >= 0)) return sentence("epsilon is ", epsilon, "; it must be at least 0");
    return {};
  }
  constexpr Value expand(std::span<const Value> in, Here at) const {
    const Value x = in[0], square = call(Mean{over}, {call(Multiply{}, {x, x}, at)}, at);
    const Value size = call(Rsqrt{}, {call(Add{}, {square, literal(x.graph, epsilon, Kind::real, at)}, at)}, at);
    return call(Multiply{}, {call(Multiply{}, {x, size}, at), in[1]}, at);
  }
};

constexpr Value rms_norm(Value x, Value weight, std::initializer_list<Dim> over, double epsilon = 1e-5, Here at = Here::current()) {
  return call(RmsNorm{names_of(over), epsilon}, {x, weight}, at);
}
constexpr Value rms_norm(Value x, Value weight, Dim over, double epsilon = 1e-5, Here at = Here::current()) {
  return rms_norm(x, weight, {over}, epsilon, at);
}

}  // namespace attune
