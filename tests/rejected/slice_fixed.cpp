// expect: line 11: slice: last = keys[3:6]: keys is 5; it must be at least 6
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries] = g.dims("queries");
    Dim keys = g.dim("keys", 5);
    Value x = g.input("x", {queries, keys});
    Dim last = g.dim("last");
#ifdef VALID
    g.output("out", slice(x, keys, {.start = 3, .count = 2}, last), {queries, last});
#else
    g.output("out", slice(x, keys, {.start = 3, .count = 3}, last), {queries, last});
#endif
  }
};

#include "tests/rejected/check.h"
