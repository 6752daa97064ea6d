// expect: line 16: rms_norm: x is i64; it must be real (to_real converts)
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [tokens, model, depth] = g.dims("tokens", "model", "depth");
    Value x = g.input("x", {tokens, model});
    Value weight = g.input("weight", {model});
    Value wide = g.input("wide", {depth});
#ifdef VALID
    g.output("out", rms_norm(x, weight, model), {tokens, model});
    g.output("other", wide * 2, {depth});
#else
    g.output("out", rms_norm(to_i64(x), weight, model), {tokens, model});
#endif
  }
};

#include "tests/rejected/check.h"
