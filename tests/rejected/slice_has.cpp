// expect: line 14: slice: slices keys into queries, which x has already: x is [queries x keys]
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
    g.output("out", slice(x, keys, {}, queries), {queries, last});
#endif
  }
};

#include "tests/rejected/check.h"
