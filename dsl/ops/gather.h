/// Rows of a table chosen by numbers: token embedding; elements along a dim in another order.
#pragma once

#include <limits>

#include "dsl/ops/matmul.h"

namespace attune {

struct Gather {
  Name along;

  static constexpr std::string_view name = "gather",
                                    meaning = "y[i.., ..] = table[ids[i..], ..], the number running along `along` of the table; a number "
                                              "outside gives NaN, in a table of integers 0. Ids that have `along` too put the elements along it in "
                                              "another order";
  static constexpr int arity = 2;
  static constexpr auto fields = std::tuple{Field{"along", &Gather::along}};

  /// The dims of ids, then those of the table without `along`. Refuses a table without `along`, and ids other than i32 and i64.
  constexpr Checked infer(std::span<const Type> in) const {
    Type type{in[0].kind, in[1].dims};
    type.dims.unite(in[0].dims.without({along}));
    if (Text problem = refuse_missing({along}, "chooses along", "table", in[0]); !problem.empty()) return {type, problem};
    if (in[1].kind != Kind::i32 && in[1].kind != Kind::i64) return refuse(type, "ids is ", in[1].kind, "; it must be i32 or i64");
    return {type, {}};
  }
  void reference(const DimExtents& extents, std::span<const Array> in, Array& out) const {
    const std::int64_t count = extents.at(along), step = in[0].stride(along);
    const double outside = out.type.kind == Kind::real ? std::numeric_limits<double>::quiet_NaN() : 0;
    Array rows;  // the table's strides but for that of `along`, which the ids alone go
    rows.type = {in[0].type.kind, in[0].type.dims.renamed(along, {})};
    rows.extents = in[0].extents;
    Walk(out.type.dims, extents, {&rows, &in[1], &out}).run([&](auto at) {
      const auto row = static_cast<std::int64_t>(in[1].data[at[1]]);
      const bool is_inside = row >= 0 && row < count;
      out.data[at[2]] = is_inside ? in[0].data[at[0] + static_cast<std::size_t>(row * step)] : outside;
    });
  }
  /// A row of the table gets what all the numbers that chose it give: a product with ones where they did.
  constexpr void pull(auto& g) const {
    if (g.has(1, along)) return g.refuse("elements that ids put in another order along a dim of their own");
    g.add(0, [&] {
      const auto ids = kind_of(g.in(1)) == Kind::i64 ? g.in(1) : to_i64(g.in(1));
      return g.product(g.out, select(ids == index(g.dim(along)), 1.0, 0.0), 0);
    });
  }
};

constexpr Value gather(Value table, Value ids, Dim along, Here at = Here::current()) {
  return call(Gather{along.name}, {table, ids}, at);
}

}  // namespace attune
