/// Headers as users write them, for the tests of `attune COMMAND FILE.h --struct NAME`.
#pragma once

#include <string_view>

namespace attune {

inline constexpr std::string_view good_header = R"(#include "dsl/variants/attention.h"

struct Reach {
  std::int64_t reach = 4;
  static constexpr std::string_view name = "reach";
  static constexpr auto fields = std::tuple{attune::Field{"reach", &Reach::reach}};
  constexpr void operator()(attune::Graph& g) const {
    const attune::Attention a(g);
    a.output(mask(a.scores(), index(a.queries) - index(a.keys) < reach));
  }
};
)";

/// Its softmax runs over a dim that the scores do not have.
inline constexpr std::string_view wrong_header = R"(#include "dsl/variants/attention.h"

struct Wrong {
  static constexpr std::string_view name = "wrong";
  static constexpr auto fields = std::tuple{};
  constexpr void operator()(attune::Graph& g) const {
    const attune::Attention a(g);
    const attune::Value weights =
        softmax(a.scores(), a.depth);
    a.output(weights, a.v);
  }
};
)";

}  // namespace attune
