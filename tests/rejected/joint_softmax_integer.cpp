// expect: line 13: joint_softmax: x is i64; it must be real (to_real converts)
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys, depth] = g.dims("queries", "keys", "depth");
    Value n = g.input("n", {queries, keys}, Kind::i64);
#ifdef VALID
    g.output("out", softmax(to_real(n), {queries, keys}), {queries, keys});
#else
    g.output("out", softmax(n, {queries, keys}), {queries, keys});
#endif
  }
};

#include "tests/rejected/check.h"
