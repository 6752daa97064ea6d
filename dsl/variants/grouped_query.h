/// Grouped queries: `group` query heads share each head of keys and values.
#pragma once

#include "dsl/graph.h"

namespace attune {

/// Inputs q [batch, heads, group, queries, depth], k [batch, heads, keys, depth], v [batch, heads, keys, value_depth]; the
/// memory of q is that of [batch, heads * group, queries, depth] with the query heads of a key head side by side.
struct GroupedQuery {
  static constexpr std::string_view name = "grouped_query",
                                    meaning = "out = softmax(q k^T / sqrt(depth)) v, with k and v of a head shared by the queries of its group";
  static constexpr auto fields = std::tuple{};

  constexpr void operator()(Graph& g) const {
    auto [batch, heads, group, queries] = g.dims("batch", "heads", "group", "queries");
    auto [keys, depth, value_depth] = g.dims("keys", "depth", "value_depth");
    const Value q = g.input("q", {batch, heads, group, queries, depth});
    const Value k = g.input("k", {batch, heads, keys, depth});
    const Value v = g.input("v", {batch, heads, keys, value_depth});
    const Value scores = scale(matmul(q, k, depth), 1 / sqrt(extent(depth)));
    g.output("out", matmul(softmax(scores, keys), v, keys), {batch, heads, group, queries, value_depth});
  }
};

}  // namespace attune
