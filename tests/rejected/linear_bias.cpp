// expect: line 15: linear: bias is i32; it must be real
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [tokens, model, hidden] = g.dims("tokens", "model", "hidden");
    Value x = g.input("x", {tokens, model});
    Value weight = g.input("weight", {hidden, model});
    Value bias = g.input("bias", {hidden}, Kind::i32);
#ifdef VALID
    g.output("out", linear(x, weight, to_real(bias), model), {tokens, hidden});
#else
    g.output("out", linear(x, weight, bias, model), {tokens, hidden});
#endif
  }
};

#include "tests/rejected/check.h"
