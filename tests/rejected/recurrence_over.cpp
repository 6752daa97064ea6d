// expect: line 13: recurrence: multiplies over width, which key does not have: key is [tokens x depth]
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [tokens, depth, width] = g.dims("tokens", "depth", "width");
    Value k = g.input("k", {tokens, depth}), v = g.input("v", {tokens, width});
#ifdef VALID
    g.output("out", recurrence(k, k, v, {}, tokens, depth), {tokens, width});
#else
    g.output("out", recurrence(v, k, v, {}, tokens, width), {tokens, depth});
#endif
  }
};

#include "tests/rejected/check.h"
