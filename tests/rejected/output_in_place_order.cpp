// expect: output: cache is written in place, but subtract needs both what it held before and what is there after a write; one of them is right, or an output of its own
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [batch, keys, tokens, depth] = g.dims("batch", "keys", "tokens", "depth");
    Value cache = g.input("cache", {batch, keys, depth});
    Value fresh = g.input("fresh", {batch, tokens, depth});
    Value start = g.input("start", {batch}, Kind::i64);
    const Value all = write_rows(cache, keys, fresh, tokens, start);
    g.output_in_place(cache, all);
#ifdef VALID
    g.output("change", sum(all, keys), {batch, depth});
#else
    g.output("change", sum(all, keys) - sum(cache, keys), {batch, depth});
#endif
  }
};

#include "tests/rejected/check.h"
