// expect: line 14: gather: ids is real; it must be i32 or i64
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [tokens, vocabulary, model] = g.dims("tokens", "vocabulary", "model");
    Value table = g.input("table", {vocabulary, model});
    Value ids = g.input("ids", {tokens});
#ifdef VALID
    g.output("out", gather(table, to_i64(ids), vocabulary), {tokens, model});
#else
    g.output("out", gather(table, ids, vocabulary), {tokens, model});
#endif
  }
};

#include "tests/rejected/check.h"
