// expect: line 16: output: cache is written in place, but the value is not write_rows of that input; write_rows of it, or of what write_rows makes of it, is right
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [batch, keys, tokens, depth] = g.dims("batch", "keys", "tokens", "depth");
    Value cache = g.input("cache", {batch, keys, depth});
    Value fresh = g.input("fresh", {batch, tokens, depth});
    Value start = g.input("start", {batch}, Kind::i64);
    Value other = g.input("other", {batch, keys, depth});
#ifdef VALID
    g.output_in_place(cache, write_rows(cache, keys, fresh, tokens, start));
#else
    g.output_in_place(cache, write_rows(other, keys, fresh, tokens, start));
#endif
  }
};

#include "tests/rejected/check.h"
