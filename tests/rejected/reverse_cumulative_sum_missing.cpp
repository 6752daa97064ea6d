// expect: line 13: reverse_cumulative_sum: sums along depth, which x does not have: x is [queries x keys]
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys] = g.dims("queries", "keys");
    Value x = g.input("x", {queries, keys});
#ifdef VALID
    g.output("out", reverse_cumulative_sum(x, keys), {queries, keys});
#else
    g.output("out", reverse_cumulative_sum(x, g.dim("depth")), {queries, keys});
#endif
  }
};

#include "tests/rejected/check.h"
