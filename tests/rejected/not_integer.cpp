// expect: line 13: not: a is i64; it must be boolean
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries] = g.dims("queries");
    Value n = g.input("n", {queries}, Kind::i64);
#ifdef VALID
    g.output("out", !(n > 0), {queries});
#else
    g.output("out", !n, {queries});
#endif
  }
};

#include "tests/rejected/check.h"
