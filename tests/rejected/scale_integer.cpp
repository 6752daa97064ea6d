// expect: line 13: scale: x is i64; it must be real (to_real converts)
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys] = g.dims("queries", "keys");
    Value x = g.input("x", {queries, keys}, Kind::i64);
#ifdef VALID
    g.output("out", scale(to_real(x), 2), {queries, keys});
#else
    g.output("out", scale(x, 2), {queries, keys});
#endif
  }
};

#include "tests/rejected/check.h"
