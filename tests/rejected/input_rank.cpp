// expect: line 13: input: the result has more than 8 dims; it begins with [a x b x c x d x e x f x h x i]
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [a, b, c, d, e, f, h, i, j] = g.dims("a", "b", "c", "d", "e", "f", "h", "i", "j");
#ifdef VALID
    Value x = g.input("x", {a, b, c, d, e, f, h, i});
    g.output("out", sum(x, {b, c, d, e, f, h, i}), {a});
#else
    Value x = g.input("x", {a, b, c, d, e, f, h, i, j});
    g.output("out", sum(x, a), {b});
#endif
  }
};

#include "tests/rejected/check.h"
