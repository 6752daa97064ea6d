// expect: line 14: divide: b is boolean; it must be real
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries] = g.dims("queries");
    Value x = g.input("x", {queries});
    Value y = g.input("y", {queries}, Kind::boolean);
#ifdef VALID
    g.output("out", x / to_real(y), {queries});
#else
    g.output("out", x / y, {queries});
#endif
  }
};

#include "tests/rejected/check.h"
