// expect: line 16: write_rows: the rows have [heads], which a row of x does not have: x is [batch x keys x depth]
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [batch, keys, tokens, depth] = g.dims("batch", "keys", "tokens", "depth");
    Value cache = g.input("cache", {batch, keys, depth});
    Value fresh = g.input("fresh", {batch, tokens, depth});
    Value start = g.input("start", {batch}, Kind::i64);
    Value wide = g.input("wide", {g.dim("heads"), tokens, depth});
#ifdef VALID
    g.output("out", write_rows(cache, keys, sum(wide, g.dim("heads")), tokens, start), {batch, keys, depth});
#else
    g.output("out", write_rows(cache, keys, wide, tokens, start), {batch, keys, depth});
#endif
  }
};

#include "tests/rejected/check.h"
