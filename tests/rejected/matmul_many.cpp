// expect: line 14: matmul: contracts over more than 8 dims; a is [a x b x c x d x e x f x h x i]
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [a, b, c, d, e, f, h, i, j] = g.dims("a", "b", "c", "d", "e", "f", "h", "i", "j");
    Value x = g.input("x", {a, b, c, d, e, f, h, i});
    Value y = g.input("y", {a, b, c, d, e, f, h, i});
#ifdef VALID
    g.output("out", matmul(x, y, {a, b, c, d, e, f, h, i}), {});
#else
    g.output("out", matmul(x, y, {a, b, c, d, e, f, h, i, j}), {});
#endif
  }
};

#include "tests/rejected/check.h"
