// expect: line 13: rotary_angle: step is real; it must be i64, in units of 2^-44 of a turn (turn_units)
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys, depth] = g.dims("queries", "keys", "depth");
    Value x = g.input("x", {queries, keys});
#ifdef VALID
    g.output("out", rotary_angle(index(queries), to_i64(x)), {queries, keys});
#else
    g.output("out", rotary_angle(index(queries), x), {queries, keys});
#endif
  }
};

#include "tests/rejected/check.h"
