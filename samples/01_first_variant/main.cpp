// Calls the kernel that CMakeLists.txt makes of recent_first.h.

#include <cstdio>
#include <vector>

#include "recent_first.h"
#include "recent_first.hpp"  // the kernel, made by attune_add_kernel

// A wrong graph does not compile: contract over `keys` instead of `depth` in recent_first.h and read what this line says.
[[maybe_unused]] constexpr const attune::Graph& checked_here = attune::graph<RecentFirst{}>;

int main() {
  constexpr std::int64_t tokens = 4, depth = 8;
  // Queries and keys of zeros: the scores hold nothing but the cost of age. With the identity for v the result is the weights.
  const std::vector<float> q(tokens * depth), k(tokens * depth);
  std::vector<float> v(tokens * tokens), out(tokens * tokens);
  for (std::size_t j = 0; j < tokens; ++j) v[j * tokens + j] = 1;

  // A tensor is a view: memory of one's own and its extents, here [heads, tokens, ...] with one head.
  const auto done = attune::kernels::recent_first(attune::Tensor(q, {1, tokens, depth}), attune::Tensor(k, {1, tokens, depth}),
                                                  attune::Tensor(v, {1, tokens, tokens}), attune::Tensor(out, {1, tokens, tokens}));
  if (!done) {  // nothing throws: a sentence says what is wrong with the arguments
    std::fprintf(stderr, "%s\n", done.error().message.c_str());
    return 1;
  }
  std::printf("the weights that each token gives to the tokens up to itself; the slope is ln 2, so each is twice the one before it\n");
  for (std::size_t i = 0; i < tokens; ++i) {
    for (std::size_t j = 0; j < tokens; ++j) std::printf(" %.3f", static_cast<double>(out[i * tokens + j]));
    std::printf("\n");
  }
}
