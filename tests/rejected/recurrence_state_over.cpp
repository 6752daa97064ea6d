// expect: line 13: recurrence_state: multiplies over width, which key does not have: key is [tokens x depth]
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [tokens, depth, width] = g.dims("tokens", "depth", "width");
    Value k = g.input("k", {tokens, depth}), v = g.input("v", {tokens, width});
#ifdef VALID
    g.output("out", recurrence_state(k, v, {}, tokens, depth), {depth, width});
#else
    g.output("out", recurrence_state(k, v, {}, tokens, width), {depth, width});
#endif
  }
};

#include "tests/rejected/check.h"
