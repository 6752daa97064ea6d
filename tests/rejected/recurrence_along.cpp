// expect: line 13: recurrence: runs along width, which query does not have: query is [tokens x depth]
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [tokens, depth, width] = g.dims("tokens", "depth", "width");
    Value k = g.input("k", {tokens, depth}), v = g.input("v", {tokens, width});
#ifdef VALID
    g.output("out", recurrence(k, k, v, {}, tokens, depth), {tokens, width});
#else
    g.output("out", recurrence(k, k, v, {}, width, depth), {tokens, width});
#endif
  }
};

#include "tests/rejected/check.h"
