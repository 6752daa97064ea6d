// expect: line 13: concat: has 17 operands; at most 16 are possible
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [depth, model] = g.dims("depth", "model");
    Value x = g.input("x", {depth});
#ifdef VALID
    g.output("out", concat({x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x}, depth, model), {model});
#else
    g.output("out", concat({x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x}, depth, model), {model});
#endif
  }
};

#include "tests/rejected/check.h"
