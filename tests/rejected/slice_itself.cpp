// expect: line 14: slice: slices keys into itself; the result needs a dim of its own
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys, depth] = g.dims("queries", "keys", "depth");
    Value x = g.input("x", {queries, keys});
    Dim last = g.dim("last");
#ifdef VALID
    g.output("out", slice(x, keys, {}, last), {queries, last});
#else
    g.output("out", slice(x, keys, {}, keys), {queries, last});
#endif
  }
};

#include "tests/rejected/check.h"
