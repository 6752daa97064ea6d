// expect: line 8: dim: the extent of tokens follows from itself, by [all]; a result of another extent needs a dim of another name
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [past, tokens, all, last, model] = g.dims("past", "tokens", "all", "last", "model");
    Value x = concat({{g.input("y", {past, model}), past}, {g.input("x", {tokens, model}), tokens}}, all);
#ifdef VALID
    g.output("out", slice(x, all, {.start = 3}, last), {last, model});
#else
    g.output("out", slice(x, all, {.start = 3}, tokens), {tokens, model});
#endif
  }
};

#include "tests/rejected/check.h"
