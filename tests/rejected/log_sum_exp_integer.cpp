// expect: line 13: log_sum_exp: x is i64; it must be real (to_real converts)
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys] = g.dims("queries", "keys");
    Value x = g.input("x", {queries, keys}, Kind::i64);
#ifdef VALID
    g.output("out", log_sum_exp(to_real(x), keys), {queries});
#else
    g.output("out", log_sum_exp(x, keys), {queries});
#endif
  }
};

#include "tests/rejected/check.h"
