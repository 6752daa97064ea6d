// expect: line 14: gradients: the value does not depend on what is named 1. of those that it is derived by
#include "dsl/gradients.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [rows, columns, depth] = g.dims("rows", "columns", "depth");
    Value x = g.input("x", {rows, columns});
    Value y = g.input("y", {rows, columns});
#ifdef VALID
    const auto [d_x] = gradients(x * y, 1.0, x);
#else
    const auto [d_x] = gradients(y * y, 1.0, x);
#endif
    g.output("d_x", d_x + 0 * y, {rows, columns});
  }
};

#include "tests/rejected/check.h"
