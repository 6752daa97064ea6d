// expect: window is 0; it must be at least 1
#include "dsl/graph.h"

using namespace attune;

struct Window {
  std::int64_t window = 256;
  constexpr void operator()(Graph& g) const {
    g.require(window >= 1, "window is ", window, "; it must be at least 1");
    auto [queries, keys] = g.dims("queries", "keys");
    Value x = g.input("x", {queries, keys});
    g.output("out", softmax(mask(x, index(queries) - index(keys) < window), keys), {queries, keys});
  }
};

struct Example {
  constexpr void operator()(Graph& g) const {
#ifdef VALID
    Window{.window = 1}(g);
#else
    Window{.window = 0}(g);
#endif
  }
};

#include "tests/rejected/check.h"
