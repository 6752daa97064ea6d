// expect: line 13: pow: a is boolean; it must be real, i64 or i32
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys, depth] = g.dims("queries", "keys", "depth");
    Value b = g.input("b", {queries}, Kind::boolean);
#ifdef VALID
    g.output("out", pow(to_real(b), 2), {queries});
#else
    g.output("out", pow(b, b), {queries});
#endif
  }
};

#include "tests/rejected/check.h"
