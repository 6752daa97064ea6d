// expect: line 13: scale: factor is i64; it must be real (to_real converts)
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys] = g.dims("queries", "keys");
    Value x = g.input("x", {queries, keys});
#ifdef VALID
    g.output("out", scale(x, sqrt(extent(keys))), {queries, keys});
#else
    g.output("out", scale(x, extent(keys)), {queries, keys});
#endif
  }
};

#include "tests/rejected/check.h"
