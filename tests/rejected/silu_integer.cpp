// expect: line 13: silu: x is i64; it must be real (to_real converts)
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries] = g.dims("queries");
    Value x = g.input("x", {queries}, Kind::i64);
#ifdef VALID
    g.output("out", silu(to_real(x)), {queries});
#else
    g.output("out", silu(x), {queries});
#endif
  }
};

#include "tests/rejected/check.h"
