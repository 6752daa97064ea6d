// expect: line 13: recurrence: runs along tokens, which initial has too: initial is [tokens x width]
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [tokens, depth, width] = g.dims("tokens", "depth", "width");
    Value k = g.input("k", {tokens, depth}), v = g.input("v", {tokens, width});
#ifdef VALID
    g.output("out", recurrence(k, k, v, {.initial = sum(v, tokens)}, tokens, depth), {tokens, width});
#else
    g.output("out", recurrence(k, k, v, {.initial = v}, tokens, depth), {tokens, width});
#endif
  }
};

#include "tests/rejected/check.h"
