// expect: line 13: recurrence: runs along tokens and multiplies over it; keys have a dim of their own for their width
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [tokens, depth, width] = g.dims("tokens", "depth", "width");
    Value k = g.input("k", {tokens, depth}), v = g.input("v", {tokens, width});
#ifdef VALID
    g.output("out", recurrence(k, k, v, {}, tokens, depth), {tokens, width});
#else
    g.output("out", recurrence(k, k, v, {}, tokens, tokens), {width});
#endif
  }
};

#include "tests/rejected/check.h"
