// expect: line 13: output: x is an input too; every output has a name of its own
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    Dim keys = g.dim("keys");
    const Value x = g.input("x", {keys});
#ifdef VALID
    g.output("out", -x, {keys});
#else
    g.output("x", -x, {keys});
#endif
  }
};

#include "tests/rejected/check.h"
