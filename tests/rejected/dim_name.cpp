// expect: line 13: dim: key-value is not a name; at most 40 letters, digits and _, no digit first, make one
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    Dim queries = g.dim("queries");
#ifdef VALID
    Dim key = g.dim("key_value");
    g.output("out", g.input("x", {queries, key}), {queries, key});
#else
    Dim key = g.dim("key-value");
    g.output("out", g.input("x", {queries, key}), {queries, key});
#endif
  }
};

#include "tests/rejected/check.h"
