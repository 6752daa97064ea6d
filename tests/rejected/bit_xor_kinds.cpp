// expect: line 14: bit_xor: a is i64 and b is i32; kinds must agree (to_real and to_i64 convert)
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries] = g.dims("queries");
    Value x = g.input("x", {queries}, Kind::i64);
    Value y = g.input("y", {queries}, Kind::i32);
#ifdef VALID
    g.output("out", bit_xor(x, to_i64(y)), {queries});
#else
    g.output("out", bit_xor(x, y), {queries});
#endif
  }
};

#include "tests/rejected/check.h"
