/// Attention by the angle between query and key, sharpened by a factor of the head (Henry et al. 2020; Liu et al. 2022, Swin V2).
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

/// Input tau [heads]: what the cosine is multiplied by, the inverse of a temperature; Swin V2 keeps its exponential at most 100.
/// A vector shorter than 1e-12 is divided by that, as PyTorch's `normalize` does.
struct Cosine {
  static constexpr std::string_view name = "cosine", meaning = "out = softmax(tau[h] q k^T / (|q| |k|)) v; Henry et al. 2020";
  static constexpr auto fields = std::tuple{};

  constexpr void operator()(Graph& g) const {
    const Attention a(g);
    const Value tau = g.input("tau", {a.heads});
    const auto direction = [&](Value x) { return x / maximum(sqrt(sum(x * x, a.depth)), 1e-12); };
    a.output(matmul(direction(a.q) * tau, direction(a.k), a.depth));
  }
};

}  // namespace attune
