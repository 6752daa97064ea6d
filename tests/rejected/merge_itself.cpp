// expect: line 13: merge: merges [heads x depth] into depth; the result needs a dim of its own
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [tokens, model, heads, depth] = g.dims("tokens", "model", "heads", "depth");
    Value x = g.input("x", {tokens, heads, depth});
#ifdef VALID
    g.output("out", merge(x, {heads, depth}, model), {tokens, model});
#else
    g.output("out", merge(x, {heads, depth}, depth), {tokens, depth});
#endif
  }
};

#include "tests/rejected/check.h"
