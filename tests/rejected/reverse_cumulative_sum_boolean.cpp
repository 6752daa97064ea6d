// expect: line 13: reverse_cumulative_sum: x is boolean; it must be real, i64 or i32 (to_real and to_i64 convert)
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys] = g.dims("queries", "keys");
    Value x = g.input("x", {queries, keys}, Kind::boolean);
#ifdef VALID
    g.output("out", reverse_cumulative_sum(to_i64(x), keys), {queries, keys});
#else
    g.output("out", reverse_cumulative_sum(x, keys), {queries, keys});
#endif
  }
};

#include "tests/rejected/check.h"
