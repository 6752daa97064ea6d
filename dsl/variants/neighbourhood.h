/// Attention to the neighbourhood on a canvas of two dims (Hassani et al. 2023, NATTEN): centred, and moved inwards at the borders.
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

/// Tokens are the rows of a canvas one behind the other, as many keys as queries. Every query sees as many keys, if the canvas holds them:
/// with (x, y) its place, those of which |c_x - x_j| <= kernel_width / 2 and |c_y - y_j| <= kernel_height / 2, c being (x, y) kept so far
/// from the borders.
struct Neighbourhood {
  std::int64_t width = 32;                           ///< of the canvas; its height is as many rows as there are
  std::int64_t kernel_width = 7, kernel_height = 7;  ///< of the neighbourhood; odd

  static constexpr std::string_view
      name = "neighbourhood",
      meaning =
          "out = softmax(q k^T / sqrt(depth), where j lies in the kernel_width x kernel_height places around i, moved "
          "inwards at the canvas's borders) v; Hassani et al. 2023";
  static constexpr auto fields = std::tuple{Field{"width", &Neighbourhood::width}, Field{"kernel_width", &Neighbourhood::kernel_width},
                                            Field{"kernel_height", &Neighbourhood::kernel_height}};

  constexpr void operator()(Graph& g) const {
    g.require(kernel_width >= 1 && kernel_width % 2 == 1, "kernel_width is ", kernel_width, "; it must be odd and at least 1");
    g.require(kernel_height >= 1 && kernel_height % 2 == 1 && kernel_height <= 31, "kernel_height is ", kernel_height,
              "; it must be odd and from 1 to 31");
    g.require(width >= kernel_width, "width is ", width, "; it must be at least kernel_width, ", kernel_width);
    if (!g.problem().empty()) return;
    const Attention a(g);
    const std::int64_t reach_x = kernel_width / 2;
    const std::int64_t above = kernel_height / 2 * width;                 // keys in the rows on each side of the centre's
    const Value i = index(a.queries), row = floor_div(i, width) * width;  // the first key of the query's row
    const Value last_row = maximum(floor_div(extent(a.queries) - 1, width) * width - above, above);
    const Value in_row = maximum(minimum(i, row + (width - 1 - reach_x)), row + reach_x);
    const Value first = in_row - reach_x - above + maximum(above - row, 0) + minimum(last_row - row, 0);
    // Keys from the first to the last that is seen, of which each row has the same columns: one remainder for a pair, which tells of a block as
    // much as a range for each row would. Between two multiples of the width it is exact, and at a multiple, if seen, begins what is seen of a row.
    const Value beyond = index(a.keys) - first;
    const Value is_near = beyond >= 0 && beyond <= 2 * (above + reach_x) && mod(beyond, width) <= 2 * reach_x;
    a.output(mask(a.scores(), is_near));
  }
};

}  // namespace attune
