// expect: line 14: concat: joins into depth, which an operand has already: it is [past x depth]
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [past, fresh, keys, depth] = g.dims("past", "fresh", "keys", "depth");
    Value a = g.input("a", {past, depth});
    Value b = g.input("b", {fresh, depth});
#ifdef VALID
    g.output("out", concat({{a, past}, {b, fresh}}, keys), {keys, depth});
#else
    g.output("out", concat({{a, past}, {b, fresh}}, depth), {depth});
#endif
  }
};

#include "tests/rejected/check.h"
