// expect: line 15: output: out belongs to another graph
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    Dim keys = g.dim("keys");
    const Value x = g.input("x", {keys});
    Graph other;
    const Value y = other.input("y", {other.dim("keys")});
#ifdef VALID
    g.output("out", x, {keys});
#else
    g.output("out", y, {keys});
#endif
  }
};

#include "tests/rejected/check.h"
