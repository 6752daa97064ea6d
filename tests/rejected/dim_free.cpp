// expect: line 8: dim: keys has no extent; no input has it, and it follows from nothing
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [tokens, keys] = g.dims("tokens", "keys");
    Value x = g.input("x", {tokens});
#ifdef VALID
    g.output("out", x + to_real(index(tokens)), {tokens});
#else
    g.output("out", x + to_real(index(keys)), {tokens, keys});
#endif
  }
};

#include "tests/rejected/check.h"
