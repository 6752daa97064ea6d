// expect: line 15: rename: the extent of tokens follows from [a] already, and follows from [b] here; a dim of another name is right
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [a, b, tokens] = g.dims("a", "b", "tokens");
    Value x = g.input("x", {a});
    Value y = g.input("y", {b});
#ifdef VALID
    g.output("out", rename(x, a, tokens), {tokens});
#else
    const Value first = rename(x, a, tokens);
    g.output("out", first + rename(y, b, tokens), {tokens});
#endif
  }
};

#include "tests/rejected/check.h"
