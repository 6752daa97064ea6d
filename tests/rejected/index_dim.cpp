// expect: line 14: dim: positions has no extent; no input has it, and it follows from nothing
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys] = g.dims("queries", "keys");
    Value x = g.input("x", {queries, keys});
#ifdef VALID
    Value i = index(keys);
    g.output("out", x + to_real(i), {queries, keys});
#else
    Value i = index(g.dim("positions"));
    g.output("out", x + to_real(i), {queries, keys, g.dim("positions")});
#endif
  }
};

#include "tests/rejected/check.h"
