/// Attention in a batch of sequences of different lengths: the keys beyond a sequence's length are padding.
#pragma once

#include "dsl/variants/attention.h"

namespace attune {

/// Input lengths i64 [batch]. The padding of k may hold anything; that of v anything finite, or with `clears_padding`
/// anything: then v reads as 0 there, one select per value.
struct Padded {
  bool clears_padding = false;
  bool lse = false;  ///< another output, lse [batch, heads, queries]: the logarithm of what the softmax divides by

  static constexpr std::string_view name = "padded",
                                    meaning = "out = softmax(q k^T / sqrt(depth), where j < lengths[batch]) v";
  static constexpr auto fields = std::tuple{Field{"clears_padding", &Padded::clears_padding}, Field{"lse", &Padded::lse}};

  constexpr void operator()(Graph& g) const {
    const Attention a(g);
    const Value lengths = g.input("lengths", {a.batch}, Kind::i64);
    const Value is_there = index(a.keys) < lengths;  // [keys, batch]
    const Value values = clears_padding ? select(is_there, a.v, 0) : a.v;
    const Value scores = mask(a.scores(), is_there);
    a.output(softmax(scores, a.keys), values);
    if (lse) a.output_lse(scores);
  }
};

}  // namespace attune
