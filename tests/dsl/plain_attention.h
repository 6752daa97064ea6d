/// Attention in plain loops over double, written without the language: what its variants are compared with.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "tests/dsl/values.h"

namespace attune::plain {

using Size = std::int64_t;

/// Normal random numbers, the same in every run.
inline Array random(std::vector<Size> extents, unsigned seed, double scale = 1) {
  Size size = 1;
  for (Size e : extents) size *= e;
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, scale);
  std::vector<double> data(static_cast<std::size_t>(size));
  for (double& x : data) x = normal(random);
  return array(std::move(extents), std::move(data));
}

/// The element at the index.
inline double& at(Array& a, std::initializer_list<Size> index) {
  std::size_t offset = 0, i = 0;
  for (Size x : index) offset = offset * static_cast<std::size_t>(a.extents[i++]) + static_cast<std::size_t>(x);
  return a.data[offset];
}
inline double at(const Array& a, std::initializer_list<Size> index) { return at(const_cast<Array&>(a), index); }

inline Array zeros(std::vector<Size> extents) {
  Array a = random(std::move(extents), 0);
  a.data.assign(a.data.size(), 0);
  return a;
}

/// A score after whatever a variant does to it; minus infinity hides the key.
using Change = std::function<double(Size b, Size h, Size i, Size j, double score)>;
inline double unchanged(Size, Size, Size, Size, double score) { return score; }

/// out [b, h, i, d] = sum_j weights[b, h, i, j] v[b, h, j, d], weights = softmax of change(q k^T / sqrt(depth)), zeros where
/// nothing is visible.
struct Result {
  Array out, weights;
};
inline Result attention(const Array& q, const Array& k, const Array& v, const Change& change = unchanged) {
  const Size batch = q.extents[0], heads = q.extents[1], queries = q.extents[2], depth = q.extents[3];
  const Size keys = k.extents[2], value_depth = v.extents[3];
  Result result{zeros({batch, heads, queries, value_depth}), zeros({batch, heads, queries, keys})};
  for (Size b = 0; b < batch; ++b)
    for (Size h = 0; h < heads; ++h)
      for (Size i = 0; i < queries; ++i) {
        double total = 0;
        for (Size j = 0; j < keys; ++j) {
          double score = 0;
          for (Size d = 0; d < depth; ++d) score += at(q, {b, h, i, d}) * at(k, {b, h, j, d});
          const double weight = std::exp(change(b, h, i, j, score / std::sqrt(static_cast<double>(depth))));
          at(result.weights, {b, h, i, j}) = weight;
          total += weight;
        }
        for (Size j = 0; j < keys; ++j) {
          if (total > 0) at(result.weights, {b, h, i, j}) /= total;
          for (Size d = 0; d < value_depth; ++d) at(result.out, {b, h, i, d}) += at(result.weights, {b, h, i, j}) * at(v, {b, h, j, d});
        }
      }
  return result;
}

/// y [batch, heads, tokens, depth] = sum_m x[batch, tokens, m] w[heads, depth, m] + bias[heads, depth] if there is one.
inline Array projected(const Array& x, const Array& w, const Array* bias) {
  Array y = zeros({x.extents[0], w.extents[0], x.extents[1], w.extents[1]});
  for (Size b = 0; b < y.extents[0]; ++b)
    for (Size h = 0; h < y.extents[1]; ++h)
      for (Size t = 0; t < y.extents[2]; ++t)
        for (Size d = 0; d < y.extents[3]; ++d) {
          double sum = bias != nullptr ? at(*bias, {h, d}) : 0;
          for (Size m = 0; m < x.extents[2]; ++m) sum += at(x, {b, t, m}) * at(w, {h, d, m});
          at(y, {b, h, t, d}) = sum;
        }
  return y;
}

/// y [batch, tokens, model] = sum_(h, d) heads[batch, h, tokens, d] wo[model, h, d] + bo[model] if there is one.
inline Array joined(const Array& heads, const Array& wo, const Array* bo) {
  Array y = zeros({heads.extents[0], heads.extents[2], wo.extents[0]});
  for (Size b = 0; b < y.extents[0]; ++b)
    for (Size t = 0; t < y.extents[1]; ++t)
      for (Size m = 0; m < y.extents[2]; ++m) {
        double sum = bo != nullptr ? at(*bo, {m}) : 0;
        for (Size h = 0; h < heads.extents[1]; ++h)
          for (Size d = 0; d < heads.extents[3]; ++d) sum += at(heads, {b, h, t, d}) * at(wo, {m, h, d});
        at(y, {b, t, m}) = sum;
      }
  return y;
}

/// A layer of attention of x to `memory` with the weights among `inputs`.
inline Result layer(const Arrays& inputs, const Array& x, const Array& memory, const Change& change = unchanged) {
  const auto bias = [&](const char* name) { return inputs.contains(name) ? &inputs.at(name) : nullptr; };
  Result result = attention(projected(x, inputs.at("wq"), bias("bq")), projected(memory, inputs.at("wk"), bias("bk")),
                            projected(memory, inputs.at("wv"), bias("bv")), change);
  result.out = joined(result.out, inputs.at("wo"), bias("bo"));
  return result;
}

}  // namespace attune::plain
