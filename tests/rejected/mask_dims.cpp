// expect: line 14: mask: the predicate has tokens, which x does not have: x is [queries x keys]
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys, tokens] = g.dims("queries", "keys", "tokens");
    Value x = g.input("x", {queries, keys});
    Value y = g.input("y", {tokens});
#ifdef VALID
    Value masked = mask(x, index(keys) <= index(queries));
#else
    Value masked = mask(x, index(tokens) <= index(queries));
#endif
    g.output("out", softmax(masked, keys) + 0, {queries, keys});
    g.output("same", y + 0, {tokens});
  }
};

#include "tests/rejected/check.h"
