// expect: line 13: constant: 3000000000 is not of kind i32, which its other operand has
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries] = g.dims("queries");
    Value n = g.input("n", {queries}, Kind::i32);
#ifdef VALID
    g.output("out", to_i64(n) + 3000000000, {queries});
#else
    g.output("out", n + 3000000000, {queries});
#endif
  }
};

#include "tests/rejected/check.h"
