// expect: line 13: top_k: count is 0; it must be from 1 to 2147483647
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys] = g.dims("queries", "keys");
    Value x = g.input("x", {queries, keys});
#ifdef VALID
    g.output("out", top_k(x, keys, 1), {queries, keys});
#else
    g.output("out", top_k(x, keys, 0), {queries, keys});
#endif
  }
};

#include "tests/rejected/check.h"
