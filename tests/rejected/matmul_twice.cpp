// expect: line 14: matmul: contracts over depth twice
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys, depth] = g.dims("queries", "keys", "depth");
    Value q = g.input("q", {queries, depth});
    Value k = g.input("k", {keys, depth});
#ifdef VALID
    g.output("out", matmul(q, k, {depth}), {queries, keys});
#else
    g.output("out", matmul(q, k, {depth, depth}), {queries, keys});
#endif
  }
};

#include "tests/rejected/check.h"
