// expect: line 14: gather: chooses along tokens, which table does not have: table is [vocabulary x model]
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [tokens, vocabulary, model] = g.dims("tokens", "vocabulary", "model");
    Value table = g.input("table", {vocabulary, model});
    Value ids = g.input("ids", {tokens}, Kind::i64);
#ifdef VALID
    g.output("out", gather(table, ids, vocabulary), {tokens, model});
#else
    g.output("out", gather(table, ids, tokens), {tokens, model});
#endif
  }
};

#include "tests/rejected/check.h"
