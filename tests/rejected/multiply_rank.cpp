// expect: line 14: multiply: the result has more than 8 dims; it begins with [a x b x c x d x e x f x h x i]
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [a, b, c, d, e, f, h, i, j] = g.dims("a", "b", "c", "d", "e", "f", "h", "i", "j");
    Value x = g.input("x", {a, b, c, d, e});
    Value y = g.input("y", {e, f, h, i, j});
#ifdef VALID
    g.output("out", x * sum(y, j), {a, b, c, d, e, f, h, i});
#else
    g.output("out", x * y, {a, b, c, d, e, f, h, i, j});
#endif
  }
};

#include "tests/rejected/check.h"
