// expect: line 13: merge: merges [depth]; at least two dims are merged (rename renames one)
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [tokens, model, heads, depth] = g.dims("tokens", "model", "heads", "depth");
    Value x = g.input("x", {tokens, heads, depth});
#ifdef VALID
    g.output("out", merge(x, {heads, depth}, model), {tokens, model});
#else
    g.output("out", merge(x, {depth}, model), {tokens, heads, model});
#endif
  }
};

#include "tests/rejected/check.h"
