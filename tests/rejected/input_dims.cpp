// expect: line 13: input: x names keys twice: it is [keys x keys]; a second role of a dim is a second name (rename)
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys] = g.dims("queries", "keys");
#ifdef VALID
    Value x = g.input("x", {queries, keys});
    g.output("out", x, {queries, keys});
#else
    Value x = g.input("x", {keys, keys});
    g.output("out", x, {keys});
#endif
  }
};

#include "tests/rejected/check.h"
