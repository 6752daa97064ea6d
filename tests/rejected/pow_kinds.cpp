// expect: line 13: pow: a is real and b is i64; kinds must agree (to_real and to_i64 convert)
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys, depth] = g.dims("queries", "keys", "depth");
    Value x = g.input("x", {queries, keys});
#ifdef VALID
    g.output("out", pow(x, to_real(index(keys))), {queries, keys});
#else
    g.output("out", pow(x, index(keys)), {queries, keys});
#endif
  }
};

#include "tests/rejected/check.h"
