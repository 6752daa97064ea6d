// expect: line 13: dim: the extent of keys is -1; it must be positive
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    Dim queries = g.dim("queries");
#ifdef VALID
    Dim keys = g.dim("keys", 1);
    g.output("out", g.input("x", {queries, keys}), {queries, keys});
#else
    Dim keys = g.dim("keys", -1);
    g.output("out", g.input("x", {queries, keys}), {queries, keys});
#endif
  }
};

#include "tests/rejected/check.h"
