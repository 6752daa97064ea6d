// expect: line 14: and: b is real; it must be boolean
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries] = g.dims("queries");
    Value x = g.input("x", {queries}, Kind::boolean);
    Value y = g.input("y", {queries});
#ifdef VALID
    g.output("out", x && (y > 0), {queries});
#else
    g.output("out", x && y, {queries});
#endif
  }
};

#include "tests/rejected/check.h"
