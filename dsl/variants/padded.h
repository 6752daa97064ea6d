/// Attention in a batch of sequences of different lengths: the keys beyond a sequence's length are padding.
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

/// Input lengths i64 [batch]. The padding of k may hold anything; that of v anything finite, or with `clears_padding`
/// anything: then v reads as 0 there, one select per value.
struct Padded {
  bool clears_padding = false;

  static constexpr std::string_view name = "padded",
                                    meaning = "out = softmax(q k^T / sqrt(depth), where j < lengths[batch]) v";
  static constexpr auto fields = std::tuple{Field{"clears_padding", &Padded::clears_padding}};

  constexpr void operator()(Graph& g) const {
    const Attention a(g);
    const Value lengths = g.input("lengths", {a.batch}, Kind::i64);
    const Value is_there = index(a.keys) < lengths;  // [keys, batch]
    const Value values = clears_padding ? select(is_there, a.v, 0) : a.v;
    a.output(softmax(mask(a.scores(), is_there), a.keys), values);
  }
};

}  // namespace attune
