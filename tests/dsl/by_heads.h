/// Attention by heads: inputs, what plain loops make of them, and the output of a variant.
#pragma once

#include "dsl/variants.h"
#include "tests/dsl/plain_attention.h"

namespace attune {

using plain::at;
using plain::Size;

constexpr Size batch = 2, heads = 3, queries = 5, keys = 7, depth = 4, value_depth = 6;
inline const double allowed = rounding(64, 8);

inline Arrays by_heads(Size query_count = queries, Size key_count = keys) {
  return {{"q", plain::random({batch, heads, query_count, depth}, 1)},
          {"k", plain::random({batch, heads, key_count, depth}, 2)},
          {"v", plain::random({batch, heads, key_count, value_depth}, 3)}};
}
/// Of which a good half is true.
inline Array random_mask(std::vector<Size> extents) {
  Array mask = plain::random(std::move(extents), 13);
  for (double& x : mask.data) x = x > -0.3;
  return mask;
}
/// How many keys each sequence of the batch has.
inline const Array lengths = array({batch}, {3, 0});

inline plain::Result expected(const Arrays& inputs, const plain::Change& change = plain::unchanged) {
  return plain::attention(inputs.at("q"), inputs.at("k"), inputs.at("v"), change);
}
/// The change that hides what is not visible.
template <class Visible>
plain::Change where(Visible visible) {
  return [visible](Size b, Size, Size i, Size j, double score) { return visible(b, i, j) ? score : -infinity; };
}
template <class Variant>
Array out_of(const Variant& variant, const Arrays& inputs) {
  return outputs_of(build(variant), inputs).at("out");
}

/// Self-attention with as many tokens as `values`, queries and keys of zeros, values of width 1: all visible keys weigh the same.
inline Arrays equal_scores(Size head_count, const std::vector<double>& values) {
  const Size length = static_cast<Size>(values.size());
  Arrays inputs = {{"q", plain::zeros({1, head_count, length, 1})}, {"k", plain::zeros({1, head_count, length, 1})},
                   {"v", plain::zeros({1, head_count, length, 1})}};
  for (Size h = 0; h < head_count; ++h)
    for (Size j = 0; j < length; ++j) at(inputs["v"], {0, h, j, 0}) = values[static_cast<std::size_t>(j)];
  return inputs;
}

}  // namespace attune
