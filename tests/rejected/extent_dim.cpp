// expect: line 13: dim: positions has no extent; no input has it, and it follows from nothing
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys] = g.dims("queries", "keys");
    Value x = g.input("x", {queries, keys});
#ifdef VALID
    g.output("out", x * to_real(extent(keys)), {queries, keys});
#else
    g.output("out", x * to_real(extent(g.dim("positions"))), {queries, keys});
#endif
  }
};

#include "tests/rejected/check.h"
