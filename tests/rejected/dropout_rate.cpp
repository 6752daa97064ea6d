// expect: line 15: dropout: rate is 1.5; it must be at least 0 and below 1
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys] = g.dims("queries", "keys");
    Value x = g.input("x", {queries, keys});
    Value seed = g.input("seed", {}, Kind::i64);
    Value offset = g.input("offset", {}, Kind::i64);
#ifdef VALID
    g.output("out", dropout(x, 0.5, seed, offset), {queries, keys});
#else
    g.output("out", dropout(x, 1.5, seed, offset), {queries, keys});
#endif
  }
};

#include "tests/rejected/check.h"
