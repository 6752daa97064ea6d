// expect: line 13: split: the extent of heads is -12; it must be from 1 to 1048576
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [tokens, model, heads, depth] = g.dims("tokens", "model", "heads", "depth");
    Value x = g.input("x", {tokens, model});
#ifdef VALID
    g.output("out", split(x, model, {{heads, 12}, depth}), {tokens, heads, depth});
#else
    g.output("out", split(x, model, {{heads, -12}, depth}), {tokens, heads, depth});
#endif
  }
};

#include "tests/rejected/check.h"
