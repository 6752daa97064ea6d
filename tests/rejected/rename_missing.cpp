// expect: line 13: rename: renames keys, which x does not have: x is [tokens x model]
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [tokens, keys, model] = g.dims("tokens", "keys", "model");
    Value x = g.input("x", {tokens, model});
#ifdef VALID
    g.output("out", rename(x, tokens, keys), {keys, model});
#else
    g.output("out", rename(x, keys, tokens), {tokens, model});
#endif
  }
};

#include "tests/rejected/check.h"
