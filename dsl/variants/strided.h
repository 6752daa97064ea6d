/// Causal attention to the nearest keys and to every n-th before them (Child et al. 2019, Sparse Transformers, 'strided').
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

struct Strided {
  std::int64_t stride = 32;

  static constexpr std::string_view
      name = "strided",
      meaning = "out = softmax(q k^T / sqrt(depth), where j <= i and (i - j < stride or (i - j) mod stride = 0)) v; Child et al. 2019";
  static constexpr auto fields = std::tuple{Field{"stride", &Strided::stride}};

  constexpr void operator()(Graph& g) const {
    g.require(stride >= 1, "stride is ", stride, "; it must be at least 1");
    if (!g.problem().empty()) return;
    const Attention a(g);
    const Value age = index(a.queries) - index(a.keys);
    a.output(mask(a.scores(), age >= 0 && (age < stride || mod(age, stride) == 0)));
  }
};

}  // namespace attune
