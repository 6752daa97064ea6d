// expect: line 13: constant: 0.5 is not of kind i64, which its other operand has
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries] = g.dims("queries");
    Value n = g.input("n", {queries}, Kind::i64);
#ifdef VALID
    g.output("out", to_real(n) < 0.5, {queries});
#else
    g.output("out", n < 0.5, {queries});
#endif
  }
};

#include "tests/rejected/check.h"
