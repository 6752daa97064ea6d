// expect: line 13: floor: a is boolean; it must be real, i64 or i32
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries] = g.dims("queries");
    Value x = g.input("x", {queries}, Kind::boolean);
#ifdef VALID
    g.output("out", floor(to_real(x)), {queries});
#else
    g.output("out", floor(x), {queries});
#endif
  }
};

#include "tests/rejected/check.h"
