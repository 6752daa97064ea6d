// expect: line 14: recurrence: has asked, but beta is 0, which takes nothing away; 1 takes all that the state holds
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [tokens, depth, width] = g.dims("tokens", "depth", "width");
    Value k = g.input("k", {tokens, depth}), v = g.input("v", {tokens, width});
    Value removal = g.input("removal", {tokens, depth});
#ifdef VALID
    g.output("out", recurrence(k, k, v, {.beta = 1, .asked = removal}, tokens, depth), {tokens, width});
#else
    g.output("out", recurrence(k, k, v, {.asked = removal}, tokens, depth), {tokens, width});
#endif
  }
};

#include "tests/rejected/check.h"
