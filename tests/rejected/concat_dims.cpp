// expect: line 14: concat: names more than 8 dims; more operands than that are laid along one dim, which all have
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [a, b, c, d, e, f, h, i, j] = g.dims("a", "b", "c", "d", "e", "f", "h", "i", "j");
    Dim all = g.dim("all");
    Value x = g.input("x", {a});
#ifdef VALID
    g.output("out", concat({{x, a}, {rename(x, a, b), b}, {rename(x, a, c), c}, {rename(x, a, d), d}, {rename(x, a, e), e}, {rename(x, a, f), f}, {rename(x, a, h), h}, {rename(x, a, i), i}}, all), {all});
#else
    g.output("out", concat({{x, a}, {rename(x, a, b), b}, {rename(x, a, c), c}, {rename(x, a, d), d}, {rename(x, a, e), e}, {rename(x, a, f), f}, {rename(x, a, h), h}, {rename(x, a, i), i}, {rename(x, a, j), j}}, all), {all});
#endif
  }
};

#include "tests/rejected/check.h"
