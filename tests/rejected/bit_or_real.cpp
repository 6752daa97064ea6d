// expect: line 14: bit_or: a is real; it must be i64 or i32
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries] = g.dims("queries");
    Value x = g.input("x", {queries});
    Value y = g.input("y", {queries});
#ifdef VALID
    g.output("out", bit_or(to_i64(x), to_i64(y)), {queries});
#else
    g.output("out", bit_or(x, y), {queries});
#endif
  }
};

#include "tests/rejected/check.h"
