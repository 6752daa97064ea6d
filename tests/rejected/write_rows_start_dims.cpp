// expect: line 15: write_rows: start has [tokens]; it may have the dims of x but keys: x is [batch x keys x depth]
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [batch, keys, tokens, depth] = g.dims("batch", "keys", "tokens", "depth");
    Value cache = g.input("cache", {batch, keys, depth});
    Value fresh = g.input("fresh", {batch, tokens, depth});
    Value start = g.input("start", {batch}, Kind::i64);
#ifdef VALID
    g.output("out", write_rows(cache, keys, fresh, tokens, start), {batch, keys, depth});
#else
    g.output("out", write_rows(cache, keys, fresh, tokens, index(tokens)), {batch, keys, depth});
#endif
  }
};

#include "tests/rejected/check.h"
