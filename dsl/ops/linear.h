/// A linear layer: a contraction with a weight, and an optional bias.
#pragma once

#include "dsl/ops/arithmetic.h"
#include "dsl/ops/matmul.h"

namespace attune {

struct Linear {
  Names over;

  static constexpr std::string_view name = "linear", meaning = "y = sum over `over` of x * weight, + bias if there is one";
  static constexpr int arity = -1;
  static constexpr auto fields = std::tuple{Field{"over", &Linear::over}};

  /// Refuses what matmul refuses, and a bias with dims that the product does not have.
  constexpr Text check(std::span<const Type> in) const {
    if (in.size() != 2 && in.size() != 3) return sentence("takes x, weight and perhaps bias, got ", static_cast<int>(in.size()), " operands");
    constexpr std::array<Name, 3> roles = {"x", "weight", "bias"};
    for (std::size_t i = 0; i < in.size(); ++i)
      if (in[i].kind != Kind::real) return sentence(roles[i], " is ", in[i].kind, "; it must be real");
    for (std::size_t i = 0; i < 2; ++i)
      if (Text problem = refuse_missing(over, "contracts over", roles[i], in[i]); !problem.empty()) return problem;
    if (in.size() == 2) return {};
    Names product = in[0].dims.without(over);
    product.unite(in[1].dims.without(over));
    for (Name dim : in[2].dims)
      if (!product.has(dim)) return sentence("bias has ", dim, ", which the product does not have: it is ", product);
    return {};
  }
  constexpr Value expand(std::span<const Value> in, Here at) const {
    const Value product = call(Matmul{over}, {in[0], in[1]}, at);
    return in.size() == 2 ? product : call(Add{}, {product, in[2]}, at);
  }
};

constexpr Value linear(Value x, Value weight, std::initializer_list<Dim> over, Here at = Here::current()) {
  return call(Linear{names_of(over)}, {x, weight}, at);
}
constexpr Value linear(Value x, Value weight, Dim over, Here at = Here::current()) { return linear(x, weight, {over}, at); }
constexpr Value linear(Value x, Value weight, Value bias, std::initializer_list<Dim> over, Here at = Here::current()) {
  return call(Linear{names_of(over)}, {x, weight, bias}, at);
}
constexpr Value linear(Value x, Value weight, Value bias, Dim over, Here at = Here::current()) {
  return linear(x, weight, bias, {over}, at);
}

}  // namespace attune
