// expect: line 14: constant: the integer is beyond 2^53 in size; a graph holds those from -2^53 to 2^53
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys] = g.dims("queries", "keys");
    Value x = g.input("x", {queries});
    g.output("copy", x, {queries});
#ifdef VALID
    g.output("out", index(queries) + constant(g, 9007199254740992), {queries});
#else
    g.output("out", index(queries) + constant(g, 9007199254740993), {queries});
#endif
  }
};

#include "tests/rejected/check.h"
