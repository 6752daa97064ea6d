/// Attention to what is near: a score falls with the square of the distance between query and key.
#pragma once

#include <limits>

#include "dsl/variants/attention.h"

namespace attune {

/// A Gaussian kernel's weights (Nadaraya, Watson 1964). `scaled` divides by sqrt(depth): with sigma = sqrt(1/2) that is the L2 attention of
/// Kim, Papamakarios, Mnih 2021. Computed as 2 q k^T - |q|^2 - |k|^2, so a distance is right to 2^-22 of the squares' sum.
struct L2Distance {
  double sigma = 1;
  bool scaled = false;

  static constexpr std::string_view name = "l2_distance", meaning = "out = softmax(-|q - k|^2 / (2 sigma^2)) v; Nadaraya, Watson 1964";
  static constexpr auto fields = std::tuple{Field{"sigma", &L2Distance::sigma}, Field{"scaled", &L2Distance::scaled}};

  constexpr void operator()(Graph& g) const {
    g.require(sigma > 0 && sigma < std::numeric_limits<double>::infinity(), "sigma is ", sigma, "; it must be above 0 and finite");
    const Attention a(g);
    const Value factor = scaled ? 1 / sqrt(extent(a.depth)) / (2 * sigma * sigma) : constant(g, 1 / (2 * sigma * sigma));
    const auto square = [&](Value x) { return sum(x * x, a.depth) * factor; };
    a.output(scale(matmul(a.q, a.k, a.depth), 2 * factor) - square(a.q) - square(a.k));
  }
};

}  // namespace attune
