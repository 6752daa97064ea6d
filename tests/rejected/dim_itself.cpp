// expect: line 8: dim: the extent of tokens follows from itself, by [keys]; a result that is renamed back needs a dim of another name
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [tokens, keys, model] = g.dims("tokens", "keys", "model");
    Value x = g.input("x", {tokens, model});
#ifdef VALID
    Value y = rename(x, tokens, keys);
    g.output("out", y, {keys, model});
#else
    Value y = rename(rename(x, tokens, keys), keys, tokens);
    g.output("out", y, {tokens, model});
#endif
  }
};

#include "tests/rejected/check.h"
