// expect: line 13: reduce_max: reduces over no dim; name at least one of [queries x keys]
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys] = g.dims("queries", "keys");
    Value x = g.input("x", {queries, keys});
#ifdef VALID
    g.output("out", max(x, {keys}), {queries});
#else
    g.output("out", max(x, {}), {queries});
#endif
  }
};

#include "tests/rejected/check.h"
