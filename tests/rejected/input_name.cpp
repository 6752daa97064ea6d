// expect: line 13: input: 2x is not a name; at most 40 letters, digits and _, no digit first, make one
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys] = g.dims("queries", "keys");
#ifdef VALID
    Value x = g.input("x2", {queries, keys});
    g.output("out", x, {queries, keys});
#else
    Value x = g.input("2x", {queries, keys});
    g.output("out", x, {queries, keys});
#endif
  }
};

#include "tests/rejected/check.h"
