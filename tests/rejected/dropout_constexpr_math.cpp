// expect: line 13: dropout: rate is 2; it must be at least 0 and below 1
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries] = g.dims("queries");
    Value x = g.input("x", {queries}), seed = g.input("seed", {}, Kind::i64), offset = g.input("offset", {}, Kind::i64);
#ifdef VALID
    g.output("out", dropout(x, constexpr_sqrt(0.25), seed, offset), {queries});
#else
    g.output("out", dropout(x, constexpr_sqrt(constexpr_pow(2, 2)) + constexpr_log(constexpr_exp(0)), seed, offset), {queries});
#endif
  }
};

#include "tests/rejected/check.h"
