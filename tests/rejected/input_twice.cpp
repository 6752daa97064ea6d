// expect: line 14: input: x is there twice; every input has a name of its own
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys] = g.dims("queries", "keys");
    Value x = g.input("x", {queries, keys});
#ifdef VALID
    Value y = g.input("y", {keys});
    g.output("out", x + y, {queries, keys});
#else
    Value y = g.input("x", {keys});
    g.output("out", x + y, {queries, keys});
#endif
  }
};

#include "tests/rejected/check.h"
