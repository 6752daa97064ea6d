// expect: line 14: divide: a is i64; it must be real (floor_div divides integers, to_real converts)
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries] = g.dims("queries");
    Value n = g.input("n", {queries}, Kind::i64);
    Value m = g.input("m", {queries}, Kind::i64);
#ifdef VALID
    g.output("out", floor_div(n, m), {queries});
#else
    g.output("out", n / m, {queries});
#endif
  }
};

#include "tests/rejected/check.h"
