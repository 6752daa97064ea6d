// expect: line 15: output: out is there twice; every output has a name of its own
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    Dim keys = g.dim("keys");
    const Value x = g.input("x", {keys});
#ifdef VALID
    g.output("out", x, {keys});
    g.output("negative", -x, {keys});
#else
    g.output("out", x, {keys});
    g.output("out", -x, {keys});
#endif
  }
};

#include "tests/rejected/check.h"
