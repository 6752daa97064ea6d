/// The positions of the greatest elements along a dim.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "dsl/ops/top_k.h"

namespace attune {

/// The second result of ONNX's TopK, whose attribute `sorted` is the field. Its first is gather(x, positions, over).
struct TopKPositions {
  Name over, into;
  std::int64_t count = 1;
  bool sorted = false;

  static constexpr std::string_view name = "top_k_positions",
                                    meaning = "y[.., n] = the n-th position along `over` that top_k of `count` chooses, in ascending order, n along `into`; -1 where it "
                                              "chooses no more. With `sorted`, as sorted_positions of the same operands gives them, in another order: the greatest element's first, of equals the lower. "
                                              "It takes the time of top_k, and with `sorted` that of comparing all pairs along `into`";
  static constexpr int arity = 1;
  static constexpr bool has_loop = true, is_walk = true;
  static constexpr auto fields = std::tuple{Field{"over", &TopKPositions::over}, Field{"into", &TopKPositions::into},
                                            Field{"count", &TopKPositions::count}, Field{"sorted", &TopKPositions::sorted}};

  /// Integers of 64 bits of the dims of x, with `into` in place of `over`. Refuses what top_k refuses, and an `into` that x has.
  constexpr Checked infer(std::span<const Type> in) const {
    Type type{Kind::i64, in[0].dims.without({over})};
    if (Text problem = TopK{over, count}.infer(in).problem; !problem.empty()) return {type, problem};
    if (in[0].dims.has(into)) return refuse(type, "puts positions along ", into, ", which x has already: x is ", in[0].dims);
    type.dims.add(into);
    return {type, {}};
  }

  void reference(const DimExtents& extents, std::span<const Array> in, Array& out) const {
    const TopK chosen{over, count};
    Array is_chosen({Kind::boolean, in[0].type.dims}, extents);
    chosen.reference(extents, in, is_chosen);
    const auto step = static_cast<std::size_t>(in[0].stride(over)), own = static_cast<std::size_t>(out.stride(into));
    const auto from = static_cast<std::size_t>(is_chosen.stride(over)), room = static_cast<std::size_t>(extents.at(into));
    Walk(out.type.dims.without({into}), extents, {&in[0], &is_chosen, &out}).run([&](auto at) {
      std::vector<std::size_t> positions;
      for (std::size_t j = 0; j < static_cast<std::size_t>(extents.at(over)) && positions.size() < room; ++j)
        if (is_chosen.data[at[1] + j * from] != 0) positions.push_back(j);
      const auto x = [&](std::size_t j) { return in[0].data[at[0] + j * step]; };
      if (sorted) std::ranges::stable_sort(positions, [&](std::size_t a, std::size_t b) { return TopK::precedes(x(a), x(b)); });
      for (std::size_t n = 0; n < room; ++n) out.data[at[2] + n * own] = n < positions.size() ? static_cast<double>(positions[n]) : -1;
    });
  }
};

/// Dim choices = g.dim("choices", 16);   Value chosen = top_k_positions(scores, keys, 16, choices)   [.., choices]
constexpr Value top_k_positions(Value x, Dim over, std::int64_t count, Dim into, Here at = Here::current()) {
  return call(TopKPositions{over.name, into.name, count, false}, {x}, at);
}
/// The same, that of the greatest element first. Those of the least elements, the least first, are sorted_positions(-x, ..);
/// of integers -1 - x, which overflows for none.
constexpr Value sorted_positions(Value x, Dim over, std::int64_t count, Dim into, Here at = Here::current()) {
  return call(TopKPositions{over.name, into.name, count, true}, {x}, at);
}

}  // namespace attune
