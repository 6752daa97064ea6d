/// Attention with queries and keys of one size: both go through an RMS norm with weights, as in Qwen 3 and Gemma 3.
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

/// Inputs wq, wk [depth]: the weights of the norms, shared by the heads.
struct QkNorm {
  double epsilon = 1e-6;  ///< added to the mean of the squares

  static constexpr std::string_view
      name = "qk_norm",
      meaning = "out = softmax(n(q, wq) n(k, wk)^T / sqrt(depth)) v, n(x, w) = w x / sqrt(mean(x^2) + epsilon) over depth";
  static constexpr auto fields = std::tuple{Field{"epsilon", &QkNorm::epsilon}};

  constexpr void operator()(Graph& g) const {
    g.require(epsilon >= 0 && epsilon < 1, "epsilon is ", epsilon, "; it must be from 0 to below 1");
    const Attention a(g);
    const Value wq = g.input("wq", {a.depth}), wk = g.input("wk", {a.depth});
    const Value q = rms_norm(a.q, wq, a.depth, epsilon), k = rms_norm(a.k, wk, a.depth, epsilon);
    a.output(scale(matmul(q, k, a.depth), 1 / sqrt(extent(a.depth))));
  }
};

}  // namespace attune
