// expect: line 13: output: out is written as [queries], but the value is [queries x keys]; each of its dims once, in any order, is right
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys] = g.dims("queries", "keys");
    Value x = g.input("x", {queries, keys});
#ifdef VALID
    g.output("out", x, {keys, queries});
#else
    g.output("out", x, {queries});
#endif
  }
};

#include "tests/rejected/check.h"
