// expect: line 13: mask: the predicate is real; it must be boolean, true where x is kept
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys] = g.dims("queries", "keys");
    Value x = g.input("x", {queries, keys});
#ifdef VALID
    g.output("out", mask(x, x > 0), {queries, keys});
#else
    g.output("out", mask(x, x), {queries, keys});
#endif
  }
};

#include "tests/rejected/check.h"
