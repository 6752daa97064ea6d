/// Contraction of two tensors over one or several dims that both have.
#pragma once

#include "dsl/array.h"
#include "dsl/op.h"

namespace attune {

/// What all contractions and reductions refuse: no dim, a dim twice, a dim that an operand does not have.
constexpr Text refuse_missing(const Names& over, std::string_view verb, std::string_view operand, const Type& type) {
  if (over.is_too_long()) return sentence(verb, " more than ", Names::capacity, " dims; ", operand, " is ", type.dims);
  if (over.empty()) return sentence(verb, " no dim; name at least one of ", type.dims);
  for (int i = 0; i < over.size(); ++i)
    if (over.position(over[i]) != i) return sentence(verb, " ", over[i], " twice");
  for (Name dim : over)
    if (!type.dims.has(dim)) return sentence(verb, " ", dim, ", which ", operand, " does not have: ", operand, " is ", type.dims);
  return {};
}

/// The names of some dims.
constexpr Names names_of(std::initializer_list<Dim> dims) {
  Names names;
  for (Dim dim : dims) names.add(dim.name);
  return names;
}

struct Matmul {
  Names over;

  static constexpr std::string_view name = "matmul",
                                    meaning = "c[m.., n..] = sum over `over` of a[m.., over..] * b[over.., n..]; shared dims are batch";
  static constexpr int arity = 2;
  static constexpr bool has_loop = true, is_sum_of_products = true;
  static constexpr auto fields = std::tuple{Field{"over", &Matmul::over}};

  /// The dims of a, then those of b, without `over`. Refuses a dim that an operand lacks, and kinds other than real.
  constexpr Checked infer(std::span<const Type> in) const {
    Type type{Kind::real, in[0].dims.without(over)};
    type.dims.unite(in[1].dims.without(over));
    for (std::size_t i = 0; i < 2; ++i) {
      const std::string_view operand = i == 0 ? "a" : "b";
      if (Text problem = refuse_missing(over, "contracts over", operand, in[i]); !problem.empty()) return {type, problem};
      if (in[i].kind != Kind::real) return refuse(type, operand, " is ", in[i].kind, "; it must be real (to_real converts)");
    }
    return {type, {}};
  }

  void reference(const DimExtents& extents, std::span<const Array> in, Array& out) const {
    std::vector<std::array<std::size_t, 2>> terms;  // of a sum: their places in a and b, from its first term
    Walk(over, extents, {&in[0], &in[1]}).run([&](auto at) { terms.push_back({at[0], at[1]}); });
    Walk(out.type.dims, extents, {&in[0], &in[1], &out}).run([&](auto at) {
      double sum = 0;
      for (const auto& [a, b] : terms) sum += in[0].data[at[0] + a] * in[1].data[at[1] + b];
      out.data[at[2]] = sum;
    });
  }
  constexpr void pull(auto& g) const {
    g.add(0, [&] { return g.product(g.out, g.in(1), 0); });
    g.add(1, [&] { return g.product(g.out, g.in(0), 1); });
  }
};

constexpr Value matmul(Value a, Value b, Dim over, Here at = Here::current()) { return call(Matmul{{over.name}}, {a, b}, at); }
constexpr Value matmul(Value a, Value b, std::initializer_list<Dim> over, Here at = Here::current()) {
  return call(Matmul{names_of(over)}, {a, b}, at);
}

}  // namespace attune
