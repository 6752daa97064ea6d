// expect: line 13: recurrence: multiplies over depth, which value has too: value is [tokens x depth]; keys, queries and what the state is asked for have it
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [tokens, depth, width] = g.dims("tokens", "depth", "width");
    Value k = g.input("k", {tokens, depth}), v = g.input("v", {tokens, width});
#ifdef VALID
    g.output("out", recurrence(k, k, v, {}, tokens, depth), {tokens, width});
#else
    g.output("out", recurrence(k, k, k, {}, tokens, depth), {tokens});
#endif
  }
};

#include "tests/rejected/check.h"
