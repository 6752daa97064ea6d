// expect: line 14: concat: joins real and i64; kinds must agree
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [past, fresh, keys, depth] = g.dims("past", "fresh", "keys", "depth");
    Value a = g.input("a", {past, depth});
    Value b = g.input("b", {fresh, depth}, Kind::i64);
#ifdef VALID
    g.output("out", concat({{a, past}, {to_real(b), fresh}}, keys), {keys, depth});
#else
    g.output("out", concat({{a, past}, {b, fresh}}, keys), {keys, depth});
#endif
  }
};

#include "tests/rejected/check.h"
