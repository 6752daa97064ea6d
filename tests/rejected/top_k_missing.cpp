// expect: line 13: top_k: chooses along depth, which x does not have: x is [queries x keys]
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys] = g.dims("queries", "keys");
    Value x = g.input("x", {queries, keys});
#ifdef VALID
    g.output("out", top_k(x, keys, 3), {queries, keys});
#else
    g.output("out", top_k(x, g.dim("depth"), 3), {queries, keys});
#endif
  }
};

#include "tests/rejected/check.h"
