/// Results of attention to parts of the keys, as one to all of them: of splits of a long sequence, pages of a cache, machines of a ring.
#pragma once

#include "dsl/graph.h"

namespace attune {

/// Inputs partial [parts, batch, heads, queries, value_depth], each part's result, and partial_lse [parts, batch, heads, queries], the logarithms of
/// what its softmax divided by (natural, -inf where a query saw no key of the part); outputs out and lse of all keys. A part that a query saw no key of
/// must be finite there: zeros, as kernels give them.
struct MergePartials {
  static constexpr std::string_view name = "merge_partials",
                                    meaning = "out = sum_p w_p partial_p, w = softmax over parts of partial_lse; lse = log_sum_exp over parts; Dao 2023, "
                                              "section 3.1";
  static constexpr auto fields = std::tuple{};

  constexpr void operator()(Graph& g) const {
    auto [parts, batch, heads, queries, value_depth] = g.dims("parts", "batch", "heads", "queries", "value_depth");
    const Value partial = g.input("partial", {parts, batch, heads, queries, value_depth});
    const auto [weights, lse] = softmax_with_lse(g.input("partial_lse", {parts, batch, heads, queries}), parts);
    g.output("out", sum(weights * partial, parts), {batch, heads, queries, value_depth});
    g.output("lse", lse, {batch, heads, queries});
  }
};

}  // namespace attune
