// expect: line 14: maximum: a is boolean; it must be real, i64 or i32
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries] = g.dims("queries");
    Value x = g.input("x", {queries}, Kind::boolean);
    Value y = g.input("y", {queries}, Kind::boolean);
#ifdef VALID
    g.output("out", maximum(to_real(x), to_real(y)), {queries});
#else
    g.output("out", maximum(x, y), {queries});
#endif
  }
};

#include "tests/rejected/check.h"
