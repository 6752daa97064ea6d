// expect: line 13: joint_softmax: runs over no dim; name at least one of [queries x keys]
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [queries, keys, depth] = g.dims("queries", "keys", "depth");
    Value x = g.input("x", {queries, keys});
#ifdef VALID
    g.output("out", softmax(x, {keys}), {queries, keys});
#else
    g.output("out", softmax(x, {}), {queries, keys});
#endif
  }
};

#include "tests/rejected/check.h"
