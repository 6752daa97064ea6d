// expect: line 16: gradients: recurrence has no gradient by its operands
#include "dsl/gradients.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [rows, columns, depth] = g.dims("rows", "columns", "depth");
    Value x = g.input("x", {rows, columns});
    Value y = g.input("y", {rows, columns});
    Value q = g.input("q", {rows, depth});
    Value k = g.input("k", {rows, depth});
#ifdef VALID
    const auto [d_x] = gradients(x * sum(q * k, depth), 1.0, x);
#else
    const auto [d_x] = gradients(recurrence(q, k, x, {}, rows, depth), 1.0, x);
#endif
    g.output("d_x", d_x + 0 * y, {rows, columns});
  }
};

#include "tests/rejected/check.h"
