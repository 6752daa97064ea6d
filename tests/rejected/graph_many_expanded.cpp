// expect: line 15: multiply: is one operation too many; a graph has at most 256, composites expanded
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    Dim keys = g.dim("keys");
    Value x = g.input("x", {keys});
    Value bias = g.input("bias", {});
#ifdef VALID
    for (int i = 0; i < Graph::max_nodes / 4; ++i) x = linear(x, x, bias, keys) * x;
    g.output("out", x, {keys});
#else
    for (int i = 0; i < Graph::max_nodes / 2; ++i) x = linear(x, x, bias, keys) * x;
    g.output("out", x, {keys});
#endif
  }
};

#include "tests/rejected/check.h"
