// expect: line 13: constant: 2 is not of kind boolean, which its other operand has
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries] = g.dims("queries");
    Value x = g.input("x", {queries}, Kind::boolean);
#ifdef VALID
    g.output("out", x && 1, {queries});
#else
    g.output("out", x && 2, {queries});
#endif
  }
};

#include "tests/rejected/check.h"
