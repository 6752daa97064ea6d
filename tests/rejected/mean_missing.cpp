// expect: line 13: mean: averages over depth, which x does not have: x is [queries x keys]
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys, depth] = g.dims("queries", "keys", "depth");
    Value x = g.input("x", {queries, keys});
#ifdef VALID
    g.output("out", mean(x, keys), {queries});
#else
    g.output("out", mean(x, depth), {queries});
#endif
  }
};

#include "tests/rejected/check.h"
