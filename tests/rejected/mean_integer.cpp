// expect: line 13: mean: x is i64; it must be real (to_real converts)
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys, depth] = g.dims("queries", "keys", "depth");
    Value n = g.input("n", {queries, keys}, Kind::i64);
#ifdef VALID
    g.output("out", mean(to_real(n), keys), {queries});
#else
    g.output("out", mean(n, keys), {queries});
#endif
  }
};

#include "tests/rejected/check.h"
