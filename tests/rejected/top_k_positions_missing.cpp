// expect: line 13: top_k_positions: chooses along depth, which x does not have: x is [queries x keys]
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys] = g.dims("queries", "keys");
    Value x = g.input("x", {queries, keys});
#ifdef VALID
    g.output("out", top_k_positions(x, keys, 3, g.dim("choices", 3)), {queries, g.dim("choices")});
#else
    g.output("out", top_k_positions(x, g.dim("depth"), 3, g.dim("choices", 3)), {queries, g.dim("choices")});
#endif
  }
};

#include "tests/rejected/check.h"
