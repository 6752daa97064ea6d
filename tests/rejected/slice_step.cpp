// expect: line 14: slice: step is 0; it must be from 1 to 2097151
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys, depth] = g.dims("queries", "keys", "depth");
    Value x = g.input("x", {queries, keys});
    Dim last = g.dim("last");
#ifdef VALID
    g.output("out", slice(x, keys, {.step = 2}, last), {queries, last});
#else
    g.output("out", slice(x, keys, {.step = 0}, last), {queries, last});
#endif
  }
};

#include "tests/rejected/check.h"
