/// Another name for a dim.
#pragma once

#include "dsl/ops/matmul.h"

namespace attune {

struct Rename {
  Name from, to;

  static constexpr std::string_view name = "rename", meaning = "y[.., to] = x[.., from]; `to` has the extent of `from`";
  static constexpr int arity = 1;
  static constexpr double roundings = 0;
  static constexpr auto fields = std::tuple{Field{"from", &Rename::from}, Field{"to", &Rename::to}};

  /// The type of x with `to` at the place of `from`. Refuses a `from` that x lacks and a `to` that it has.
  constexpr Checked infer(std::span<const Type> in) const {
    const Type type{in[0].kind, in[0].dims.renamed(from, to)};
    if (Text problem = refuse_missing({from}, "renames", "x", in[0]); !problem.empty()) return {type, problem};
    if (in[0].dims.has(to)) return refuse(type, "renames ", from, " to ", to, ", which x has already: x is ", in[0].dims);
    return {type, {}};
  }
  constexpr void derive(std::span<const Type>, auto add) const { add(Derivation{to, Formula::product, {from}, 1}); }
  void reference(const DimExtents&, std::span<const Array> in, Array& out) const { out.data = in[0].data; }
  constexpr void pull(auto& g) const { g.add(0, [&] { return gather(g.out, index(g.dim(from)), g.dim(to)); }); }
};

constexpr Value rename(Value x, Dim from, Dim to, Here at = Here::current()) { return call(Rename{from.name, to.name}, {x}, at); }

}  // namespace attune
