// expect: line 13: top_k_positions: puts positions along queries, which x has already: x is [queries x keys]
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys] = g.dims("queries", "keys");
    Value x = g.input("x", {queries, keys});
#ifdef VALID
    g.output("out", top_k_positions(x, keys, 3, g.dim("choices", 3)), {queries, g.dim("choices")});
#else
    g.output("out", top_k_positions(x, keys, 3, queries), {queries});
#endif
  }
};

#include "tests/rejected/check.h"
