// expect: line 17: rotary_embedding: takes angles along other, which cos does not have: cos is [tokens x pairs]
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [tokens, depth, pairs, other] = g.dims("tokens", "depth", "pairs", "other");
    Value x = g.input("x", {tokens, depth});
    Value angles = g.input("angles", {tokens, pairs});
    Value wide = g.input("wide", {other, pairs});
    constexpr RotaryPairs form = RotaryPairs::half_split;
#ifdef VALID
    g.output("out", rotary_embedding(x, angles, depth, pairs, form), {tokens, depth});
    g.output("other", wide * 2, {other, pairs});
#else
    g.output("out", rotary_embedding(x, angles, depth, other, form), {tokens, depth});
#endif
  }
};

#include "tests/rejected/check.h"
