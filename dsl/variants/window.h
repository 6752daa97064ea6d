/// Attention to what is near, on both sides: a window with named ends, from which every n-th key may be taken (Beltagy et al. 2020).
#pragma once

#include "dsl/variants/alignment.h"
#include "dsl/variants/attention.h"

namespace attune {

/// A query at place p sees p - left to p + right, both included: left = 127, right = 0 is a causal window of 128 keys. -1 is no bound, as
/// in FlashAttention and ONNX. Of the keys in the window it sees those whose distance is a multiple of `dilation`.
struct Window {
  std::int64_t left = 63, right = 63;
  std::int64_t dilation = 1;
  Alignment alignment = Alignment::top_left;

  static constexpr std::string_view
      name = "window",
      meaning =
          "out = softmax(q k^T / sqrt(depth), where p - left <= j <= p + right and (p - j) mod dilation = 0) v, p = i, or "
          "i + keys - queries at the bottom right; -1 is no bound";
  static constexpr auto fields = std::tuple{Field{"left", &Window::left}, Field{"right", &Window::right},
                                            Field{"dilation", &Window::dilation}, Field{"alignment", &Window::alignment}};

  constexpr void operator()(Graph& g) const {
    g.require(left >= -1, "left is ", left, "; it must be at least 0, or -1 for no bound");
    g.require(right >= -1, "right is ", right, "; it must be at least 0, or -1 for no bound");
    g.require(dilation >= 1, "dilation is ", dilation, "; it must be at least 1");
    if (!g.problem().empty()) return;
    const Attention a(g);
    const Value age = place_of(a, alignment) - index(a.keys);
    Value scores = a.scores();
    // to the last multiple of the dilation, so that blocks beyond it are known to hold none
    if (left >= 0) scores = mask(scores, age <= left / dilation * dilation);
    if (right >= 0) scores = mask(scores, age >= -(right / dilation * dilation));
    if (dilation > 1) scores = mask(scores, mod(age, dilation) == 0);
    a.output(scores);
  }
};

}  // namespace attune
