// expect: line 12: dim: the extent of depth is 64 already, and is 32 here; a dim of another name is right
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    Dim depth = g.dim("depth", 64);
#ifdef VALID
    g.output("out", g.input("x", {g.dim("depth", 64)}), {depth});
#else
    g.output("out", g.input("x", {g.dim("depth", 32)}), {depth});
#endif
  }
};

#include "tests/rejected/check.h"
