// expect: line 15: linear: weight is i8; it must be real
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [tokens, model, hidden] = g.dims("tokens", "model", "hidden");
    Value x = g.input("x", {tokens, model});
    Value weight = g.input("weight", {hidden, model}, Kind::i8);
    Value bias = g.input("bias", {hidden});
#ifdef VALID
    g.output("out", linear(x, to_real(weight), bias, model), {tokens, hidden});
#else
    g.output("out", linear(x, weight, bias, model), {tokens, hidden});
#endif
  }
};

#include "tests/rejected/check.h"
