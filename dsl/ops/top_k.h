/// The greatest elements along a dim.
#pragma once

#include "dsl/ops/reduce.h"

namespace attune {

/// ONNX TopK, as a mask in place of a list; top_k_positions makes that of it.
struct TopK {
  Name over;
  std::int64_t count = 1;

  static constexpr std::string_view name = "top_k",
                                    meaning = "whether x is one of the `count` greatest along `over`: of equals the first ones are, NaN is greater than every number, and of "
                                              "fewer elements all are. A row is walked at most once for each bit of its elements, 32 or 64 times, whatever `count` is";
  static constexpr int arity = 1;
  static constexpr bool has_loop = true, is_walk = true;
  static constexpr auto fields = std::tuple{Field{"over", &TopK::over}, Field{"count", &TopK::count}};

  /// Booleans of the dims of x. Refuses a dim that x does not have, booleans, and a count below 1.
  constexpr Checked infer(std::span<const Type> in) const {
    const Type type{Kind::boolean, in[0].dims};
    if (Text problem = refuse_elements("chooses along", {over}, in[0]); !problem.empty()) return {type, problem};
    if (count < 1 || count > most) return refuse(type, "count is ", count, "; it must be from 1 to ", most);
    return {type, {}};
  }
  static constexpr std::int64_t most = (std::int64_t{1} << 31) - 1;  ///< positions that a dim of a kernel may have

  void reference(const DimExtents& extents, std::span<const Array> in, Array& out) const {
    const auto step = static_cast<std::size_t>(in[0].stride(over)), own = static_cast<std::size_t>(out.stride(over));
    const auto length = static_cast<std::size_t>(extents.at(over));
    Walk(out.type.dims.without({over}), extents, {&in[0], &out}).run([&](auto at) {
      const auto x = [&](std::size_t j) { return in[0].data[at[0] + j * step]; };
      const auto is_chosen = [&](std::size_t j) -> double& { return out.data[at[1] + j * own]; };
      for (std::int64_t n = 0; n < count && n < extents.at(over); ++n) {
        std::size_t best = length;
        for (std::size_t j = 0; j < length; ++j)
          if (is_chosen(j) == 0 && (best == length || precedes(x(j), x(best)))) best = j;
        is_chosen(best) = 1;
      }
    });
  }
  /// Whether a is chosen before b wherever they stand.
  static constexpr bool precedes(double a, double b) { return b == b && (a != a || a > b); }
};

/// mask(scores, top_k(scores, keys, 16))
constexpr Value top_k(Value x, Dim over, std::int64_t count, Here at = Here::current()) { return call(TopK{over.name, count}, {x}, at); }

}  // namespace attune
