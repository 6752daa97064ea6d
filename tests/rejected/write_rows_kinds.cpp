// expect: line 15: write_rows: writes i64 into real; kinds must agree
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [batch, keys, tokens, depth] = g.dims("batch", "keys", "tokens", "depth");
    Value cache = g.input("cache", {batch, keys, depth});
    Value fresh = g.input("fresh", {batch, tokens, depth});
    Value start = g.input("start", {batch}, Kind::i64);
#ifdef VALID
    g.output("out", write_rows(cache, keys, to_real(index(tokens)), tokens, start), {batch, keys, depth});
#else
    g.output("out", write_rows(cache, keys, index(tokens), tokens, start), {batch, keys, depth});
#endif
  }
};

#include "tests/rejected/check.h"
