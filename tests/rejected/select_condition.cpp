// expect: line 14: select: the condition is i64; it must be boolean
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries] = g.dims("queries");
    Value c = g.input("c", {queries}, Kind::i64);
    Value x = g.input("x", {queries});
#ifdef VALID
    g.output("out", select(c > 0, x, 0), {queries});
#else
    g.output("out", select(c, x, 0), {queries});
#endif
  }
};

#include "tests/rejected/check.h"
