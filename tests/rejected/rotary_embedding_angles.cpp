// expect: line 17: rotary_embedding: cos has depth, along which x is turned: it is [tokens x pairs x depth]
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
    g.output("out", rotary_embedding(x, angles * x, depth, pairs, form), {tokens, depth});
#endif
  }
};

#include "tests/rejected/check.h"
