// expect: line 16: layer_norm: averages over no dim; name at least one of [tokens x model]
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [tokens, model, depth] = g.dims("tokens", "model", "depth");
    Value x = g.input("x", {tokens, model});
    Value weight = g.input("weight", {model});
    Value wide = g.input("wide", {depth});
#ifdef VALID
    g.output("out", layer_norm(x, weight, model), {tokens, model});
    g.output("other", wide * 2, {depth});
#else
    g.output("out", layer_norm(x, weight, std::initializer_list<Dim>{}), {tokens, model});
#endif
  }
};

#include "tests/rejected/check.h"
