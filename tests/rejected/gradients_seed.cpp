// expect: line 15: gradients: the seed has columns, which the value does not have: it is [rows]
#include "dsl/gradients.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [rows, columns, depth] = g.dims("rows", "columns", "depth");
    Value x = g.input("x", {rows, columns});
    Value y = g.input("y", {rows, columns});
    Value seed = g.input("seed", {columns});
#ifdef VALID
    const auto [d_x] = gradients(sum(x, columns), 0 * sum(seed, columns), x);
#else
    const auto [d_x] = gradients(sum(x, columns), seed, x);
#endif
    g.output("d_x", d_x + 0 * y, {rows, columns});
  }
};

#include "tests/rejected/check.h"
