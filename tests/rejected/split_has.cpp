// expect: line 13: split: splits model into tokens, which is there already: x is [tokens x model]
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [tokens, model, heads, depth] = g.dims("tokens", "model", "heads", "depth");
    Value x = g.input("x", {tokens, model});
#ifdef VALID
    g.output("out", split(x, model, {{heads, 12}, depth}), {tokens, heads, depth});
#else
    g.output("out", split(x, model, {{tokens, 12}, depth}), {tokens, depth});
#endif
  }
};

#include "tests/rejected/check.h"
