// expect: line 14: matmul: b is i64; it must be real (to_real converts)
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys, depth] = g.dims("queries", "keys", "depth");
    Value q = g.input("q", {queries, depth});
    Value k = g.input("k", {keys, depth}, Kind::i64);
#ifdef VALID
    g.output("out", matmul(q, to_real(k), depth), {queries, keys});
#else
    g.output("out", matmul(q, k, depth), {queries, keys});
#endif
  }
};

#include "tests/rejected/check.h"
