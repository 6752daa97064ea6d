// expect: line 15: gather: chooses along vocabulary, which ids has too: ids is [vocabulary]
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    auto [tokens, vocabulary, model] = g.dims("tokens", "vocabulary", "model");
    Value table = g.input("table", {vocabulary, model});
    Value ids = g.input("ids", {tokens}, Kind::i64);
    Value per_word = g.input("per_word", {vocabulary}, Kind::i64);
#ifdef VALID
    g.output("out", gather(table, ids, vocabulary), {tokens, model});
#else
    g.output("out", gather(table, per_word, vocabulary), {vocabulary, model});
#endif
  }
};

#include "tests/rejected/check.h"
