/// Some positions along a dim: from a start on, every n-th.
#pragma once

#include "dsl/ops/matmul.h"

namespace attune {

struct Slice {
  Name from, into;
  std::int64_t start = 0, step = 1, count = 0;

  static constexpr std::string_view name = "slice",
                                    meaning = "y[.., i] = x[.., start + step * i], i along `into`, start + step * i along `from`; `count` positions, "
                                              "all there are where it is 0. Refused, by the call at the latest, where `from` is too short";
  static constexpr int arity = 1;
  static constexpr auto fields = std::tuple{Field{"from", &Slice::from}, Field{"into", &Slice::into}, Field{"start", &Slice::start},
                                            Field{"step", &Slice::step}, Field{"count", &Slice::count}};

  constexpr Steps steps() const { return {start, step, count}; }

  /// The type of x with `into` at the place of `from`. Refuses a `from` that x lacks, an `into` that it has, and numbers out of range.
  constexpr Checked infer(std::span<const Type> in) const {
    const Type type{in[0].kind, in[0].dims.renamed(from, into)};
    if (Text problem = refuse_missing({from}, "slices", "x", in[0]); !problem.empty()) return {type, problem};
    if (from == into) return refuse(type, "slices ", from, " into itself; the result needs a dim of its own");
    if (in[0].dims.has(into)) return refuse(type, "slices ", from, " into ", into, ", which x has already: x is ", in[0].dims);
    if (start < 0 || start > Steps::most) return refuse(type, "start is ", start, "; it must be from 0 to ", Steps::most);
    if (step < 1 || step > Steps::most) return refuse(type, "step is ", step, "; it must be from 1 to ", Steps::most);
    if (count < 0 || count > Steps::most) return refuse(type, "count is ", count, "; it must be from 0, for all, to ", Steps::most);
    return {type, {}};
  }
  constexpr void derive(std::span<const Type>, auto add) const { add(Derivation{into, Formula::slice, {from}, steps().packed()}); }
  void reference(const DimExtents& extents, std::span<const Array> in, Array& out) const {
    const auto own = static_cast<std::size_t>(in[0].stride(from)), other = static_cast<std::size_t>(out.stride(into));
    const auto all = static_cast<std::size_t>(extents.at(into)), first = static_cast<std::size_t>(start), by = static_cast<std::size_t>(step);
    Walk(out.type.dims.without({into}), extents, {&in[0], &out}).run([&](auto at) {
      for (std::size_t i = 0; i < all; ++i) out.data[at[1] + i * other] = in[0].data[at[0] + (first + i * by) * own];
    });
  }
  /// What no position reads gets nothing.
  constexpr void pull(auto& g) const {
    g.add(0, [&] {
      const auto place = index(g.dim(from)) - start, number = floor_div(place, step);
      const auto is_read = place >= 0 && mod(place, step) == 0 && number < extent(g.dim(into));
      return select(is_read, gather(g.out, select(is_read, number, 0), g.dim(into)), 0.0);
    });
  }
};

/// slice(x, tokens, {.start = 1}, rest)   slice(x, tokens, {.step = 2, .count = 8}, even)
constexpr Value slice(Value x, Dim from, Steps steps, Dim into, Here at = Here::current()) {
  return call(Slice{from.name, into.name, steps.start, steps.step, steps.count}, {x}, at);
}

}  // namespace attune
