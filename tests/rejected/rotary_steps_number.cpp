// expect: line 13: rotary_steps: the number of a pair is real; it must be i64, as index gives it
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [pairs] = g.dims("pairs");
    Value x = g.input("x", {pairs});
#ifdef VALID
    g.output("out", to_real(rotary_steps(index(pairs), 10000, 64)) + x, {pairs});
#else
    g.output("out", to_real(rotary_steps(x, 10000, 64)) + x, {pairs});
#endif
  }
};

#include "tests/rejected/check.h"
