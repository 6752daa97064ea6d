// expect: line 13: mask: x is i64; it must be real (to_real converts)
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys] = g.dims("queries", "keys");
    Value x = g.input("x", {queries, keys}, Kind::i64);
#ifdef VALID
    g.output("out", mask(to_real(x), x > 0), {queries, keys});
#else
    g.output("out", mask(x, x > 0), {queries, keys});
#endif
  }
};

#include "tests/rejected/check.h"
