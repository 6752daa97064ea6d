// expect: line 15: output: what is written in place is no input; the memory of an input is
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [batch, keys, tokens, depth] = g.dims("batch", "keys", "tokens", "depth");
    Value cache = g.input("cache", {batch, keys, depth});
    Value fresh = g.input("fresh", {batch, tokens, depth});
    Value start = g.input("start", {batch}, Kind::i64);
#ifdef VALID
    g.output_in_place(cache, write_rows(cache, keys, fresh, tokens, start));
#else
    g.output_in_place(-cache, write_rows(cache, keys, fresh, tokens, start));
#endif
  }
};

#include "tests/rejected/check.h"
