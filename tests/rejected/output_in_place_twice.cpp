// expect: line 16: output: cache is there twice; every output has a name of its own
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [batch, keys, tokens, depth] = g.dims("batch", "keys", "tokens", "depth");
    Value cache = g.input("cache", {batch, keys, depth});
    Value fresh = g.input("fresh", {batch, tokens, depth});
    Value start = g.input("start", {batch}, Kind::i64);
    g.output_in_place(cache, write_rows(cache, keys, fresh, tokens, start));
#ifdef VALID
    g.output("out", -fresh, {batch, tokens, depth});
#else
    g.output_in_place(cache, write_rows(cache, keys, -fresh, tokens, start));
#endif
  }
};

#include "tests/rejected/check.h"
