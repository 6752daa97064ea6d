// expect: line 14: floor_div: a is i64 and b is i32; kinds must agree (to_real and to_i64 convert)
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries] = g.dims("queries");
    Value n = g.input("n", {queries}, Kind::i64);
    Value m = g.input("m", {queries}, Kind::i32);
#ifdef VALID
    g.output("out", floor_div(n, to_i64(m)), {queries});
#else
    g.output("out", floor_div(n, m), {queries});
#endif
  }
};

#include "tests/rejected/check.h"
