// expect: line 13: split: leaves 0 extents of [heads x depth] unstated; all but one must be stated
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [tokens, model, heads, depth] = g.dims("tokens", "model", "heads", "depth");
    Value x = g.input("x", {tokens, model});
#ifdef VALID
    g.output("out", split(x, model, {{heads, 12}, depth}), {tokens, heads, depth});
#else
    g.output("out", split(x, model, {{heads, 12}, {depth, 32}}), {tokens, heads, depth});
#endif
  }
};

#include "tests/rejected/check.h"
