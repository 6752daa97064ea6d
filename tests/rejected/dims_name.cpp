// expect: line 12: dim: a name is empty; letters, digits and _ make one
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
#ifdef VALID
    auto [queries, keys] = g.dims("queries", "keys");
    g.output("out", g.input("x", {queries, keys}), {queries, keys});
#else
    auto [queries, keys] = g.dims("queries", "");
    g.output("out", g.input("x", {queries, keys}), {queries, keys});
#endif
  }
};

#include "tests/rejected/check.h"
