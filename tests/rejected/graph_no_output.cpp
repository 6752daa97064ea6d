// expect: graph: has no output; g.output(name, value, dims) makes one
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    Dim keys = g.dim("keys");
    const Value x = g.input("x", {keys});
#ifdef VALID
    g.output("out", softmax(x, keys), {keys});
#else
    static_cast<void>(softmax(x, keys));
#endif
  }
};

#include "tests/rejected/check.h"
