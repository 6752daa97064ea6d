// expect: line 16: linear: bias has model, which the product does not have: it is [tokens x hidden]
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [tokens, model, hidden] = g.dims("tokens", "model", "hidden");
    Value x = g.input("x", {tokens, model});
    Value weight = g.input("weight", {hidden, model});
    Value bias = g.input("bias", {hidden});
    Value wide = g.input("wide", {model});
#ifdef VALID
    g.output("out", linear(x, weight, bias, model), {tokens, hidden});
#else
    g.output("out", linear(x, weight, wide, model), {tokens, hidden});
#endif
  }
};

#include "tests/rejected/check.h"
