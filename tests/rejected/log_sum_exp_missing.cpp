// expect: line 13: log_sum_exp: runs over depth, which x does not have: x is [queries x keys]
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys, depth] = g.dims("queries", "keys", "depth");
    Value x = g.input("x", {queries, keys});
#ifdef VALID
    g.output("out", log_sum_exp(x, keys), {queries});
#else
    g.output("out", log_sum_exp(x, depth), {queries});
#endif
  }
};

#include "tests/rejected/check.h"
