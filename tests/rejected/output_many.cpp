// expect: line 14: output: i is one too many; a graph has at most 8 outputs
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    Dim keys = g.dim("keys");
    const Value x = g.input("x", {keys});
    constexpr std::string_view names = "abcdefghijklmnop";
#ifdef VALID
    for (std::size_t i = 0; i < Graph::max_outputs; ++i) g.output(names.substr(i, 1), x, {keys});
#else
    for (std::size_t i = 0; i <= Graph::max_outputs; ++i) g.output(names.substr(i, 1), x, {keys});
#endif
  }
};

#include "tests/rejected/check.h"
