// expect: line 14: scale: factor has depth, which x does not have: x is [queries x keys]
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys, depth] = g.dims("queries", "keys", "depth");
    Value x = g.input("x", {queries, keys});
    Value y = g.input("y", {keys, depth});
#ifdef VALID
    g.output("out", x * y, {queries, keys, depth});
#else
    g.output("out", scale(x, y), {queries, keys, depth});
#endif
  }
};

#include "tests/rejected/check.h"
