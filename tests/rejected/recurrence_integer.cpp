// expect: line 13: recurrence: beta is i64; it must be real (to_real converts)
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [tokens, depth, width] = g.dims("tokens", "depth", "width");
    Value k = g.input("k", {tokens, depth}), v = g.input("v", {tokens, width});
#ifdef VALID
    g.output("out", recurrence(k, k, v, {.beta = to_real(index(tokens))}, tokens, depth), {tokens, width});
#else
    g.output("out", recurrence(k, k, v, {.beta = index(tokens)}, tokens, depth), {tokens, width});
#endif
  }
};

#include "tests/rejected/check.h"
