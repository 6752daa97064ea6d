// expect: line 14: add: is one operation too many; a graph has at most 256, composites expanded
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    Dim keys = g.dim("keys");
    Value x = g.input("x", {keys});
#ifdef VALID
    for (int i = 1; i < Graph::max_nodes; ++i) x = x + x;
    g.output("out", x, {keys});
#else
    for (int i = 0; i < Graph::max_nodes; ++i) x = x + x;
    g.output("out", x, {keys});
#endif
  }
};

#include "tests/rejected/check.h"
