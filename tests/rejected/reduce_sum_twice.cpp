// expect: line 13: reduce_sum: reduces over keys twice
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys] = g.dims("queries", "keys");
    Value x = g.input("x", {queries, keys});
#ifdef VALID
    g.output("out", sum(x, {keys}), {queries});
#else
    g.output("out", sum(x, {keys, keys}), {queries});
#endif
  }
};

#include "tests/rejected/check.h"
