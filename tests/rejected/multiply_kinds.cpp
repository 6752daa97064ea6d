// expect: line 14: multiply: a is real and b is i64; kinds must agree (to_real and to_i64 convert)
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries] = g.dims("queries");
    Value x = g.input("x", {queries});
    Value n = g.input("n", {queries}, Kind::i64);
#ifdef VALID
    g.output("out", x * to_real(n), {queries});
#else
    g.output("out", x * n, {queries});
#endif
  }
};

#include "tests/rejected/check.h"
