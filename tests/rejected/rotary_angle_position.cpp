// expect: line 13: rotary_angle: position is real; it must be i64 or i32
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys, depth] = g.dims("queries", "keys", "depth");
    Value x = g.input("x", {queries, keys});
#ifdef VALID
    g.output("out", rotary_angle(to_i64(x), 0.5), {queries, keys});
#else
    g.output("out", rotary_angle(x, 0.5), {queries, keys});
#endif
  }
};

#include "tests/rejected/check.h"
