// expect: line 13: output: the out is not a name; at most 40 letters, digits and _, no digit first, make one
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    Dim keys = g.dim("keys");
    const Value x = g.input("x", {keys});
#ifdef VALID
    g.output("the_out", x, {keys});
#else
    g.output("the out", x, {keys});
#endif
  }
};

#include "tests/rejected/check.h"
