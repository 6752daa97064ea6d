/// Normalisation by mean and variance.
#pragma once

#include "dsl/ops/functions.h"
#include "dsl/ops/mean.h"

namespace attune {

struct LayerNorm {
  Names over;
  double epsilon = 1e-5;

  static constexpr std::string_view name = "layer_norm",
                                    meaning = "(x - mean(x)) / sqrt(variance + epsilon) * weight, + bias if there is one; variance = mean((x - mean(x))^2), "
                                              "the means over `over`; Ba, Kiros and Hinton, 2016";
  static constexpr int arity = -1;
  static constexpr auto fields = std::tuple{Field{"over", &LayerNorm::over}, Field{"epsilon", &LayerNorm::epsilon}};

  /// Refuses what mean refuses, a weight or bias with dims that x does not have, and an epsilon below 0.
  constexpr Text check(std::span<const Type> in) const {
    if (in.size() != 2 && in.size() != 3) return sentence("takes x, weight and perhaps bias, got ", static_cast<int>(in.size()), " operands");
    if (Text problem = Mean{over}.check(in); !problem.empty()) return problem;
    constexpr std::array<Name, 3> roles = {"x", "weight", "bias"};
    for (std::size_t i = 1; i < in.size(); ++i) {
      if (in[i].kind != Kind::real) return sentence(roles[i], " is ", in[i].kind, "; it must be real (to_real converts)");
      for (Name dim : in[i].dims)
        if (!in[0].dims.has(dim)) return sentence(roles[i], " has ", dim, ", which x does not have: x is ", in[0].dims);
    }
    if (!(epsilon >= 0)) return sentence("epsilon is ", epsilon, "; it must be at least 0");
    return {};
  }
  constexpr Value expand(std::span<const Value> in, Here at) const {
    const Value x = in[0], centred = call(Subtract{}, {x, call(Mean{over}, {x}, at)}, at);
    const Value variance = call(Mean{over}, {call(Multiply{}, {centred, centred}, at)}, at);
    const Value size = call(Rsqrt{}, {call(Add{}, {variance, literal(x.graph, epsilon, Kind::real, at)}, at)}, at);
    const Value scaled = call(Multiply{}, {call(Multiply{}, {centred, size}, at), in[1]}, at);
    return in.size() == 2 ? scaled : call(Add{}, {scaled, in[2]}, at);
  }
};

constexpr Value layer_norm(Value x, Value weight, std::initializer_list<Dim> over, double epsilon = 1e-5, Here at = Here::current()) {
  return call(LayerNorm{names_of(over), epsilon}, {x, weight}, at);
}
constexpr Value layer_norm(Value x, Value weight, Value bias, std::initializer_list<Dim> over, double epsilon = 1e-5, Here at = Here::current()) {
  return call(LayerNorm{names_of(over), epsilon}, {x, weight, bias}, at);
}
constexpr Value layer_norm(Value x, Value weight, Dim over, double epsilon = 1e-5, Here at = Here::current()) {
  return layer_norm(x, weight, {over}, epsilon, at);
}
constexpr Value layer_norm(Value x, Value weight, Value bias, Dim over, double epsilon = 1e-5, Here at = Here::current()) {
  return layer_norm(x, weight, bias, {over}, epsilon, at);
}

}  // namespace attune
