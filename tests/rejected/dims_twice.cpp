// expect: line 11: dims: queries is there twice; each is a dim of its own
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
#ifdef VALID
    auto [queries, keys] = g.dims("queries", "keys");
#else
    auto [queries, keys] = g.dims("queries", "queries");
#endif
    g.output("out", g.input("x", {queries}) + g.input("y", {keys}), {queries, keys});
  }
};

#include "tests/rejected/check.h"
