// expect: line 13: rotary_steps: base is 0.5; it must be at least 1
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [pairs] = g.dims("pairs");
    Value x = g.input("x", {pairs});
#ifdef VALID
    g.output("out", to_real(rotary_steps(index(pairs), 10000, 64)) + x, {pairs});
#else
    g.output("out", to_real(rotary_steps(index(pairs), 0.5, 64)) + x, {pairs});
#endif
  }
};

#include "tests/rejected/check.h"
