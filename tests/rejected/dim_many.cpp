// expect: line 16: dim: V is one too many; a graph has at most 48 dims
#include "dsl/graph.h"

using namespace attune;

struct Example {
  constexpr void operator()(Graph& g) const {
    Dim keys = g.dim("keys");
    const Value x = g.input("x", {keys});
    constexpr std::string_view names = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    constexpr std::size_t most = Graph::max_dims - 1;  // keys is one of them
#ifdef VALID
    for (std::size_t i = 0; i < most; ++i) g.dim(names.substr(i, 1));
    g.output("out", x, {keys});
#else
    for (std::size_t i = 0; i <= most; ++i) g.dim(names.substr(i, 1));
    g.output("out", x, {keys});
#endif
  }
};

#include "tests/rejected/check.h"
