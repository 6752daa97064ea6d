#include "samples/sentence_similarity/plain.h"

#include <algorithm>
#include <cmath>

namespace sentence_similarity {
namespace {

using attune::Result;

constexpr std::int64_t model_width = Sizes::model;

/// c[i, j] += sum_k a[i, k] b[k, j], all row-major without gaps; j is innermost, so that it runs along b and c.
void multiply_add(const float* a, const float* b, float* __restrict c, std::int64_t rows, std::int64_t inner, std::int64_t columns) {
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t k = 0; k < inner; ++k) {
      const float factor = a[i * inner + k];
      for (std::int64_t j = 0; j < columns; ++j) c[i * columns + j] += factor * b[k * columns + j];
    }
}

/// y[t] = norm(x[t] + y[t]) for each of the rows.
void add_and_normalise(const LayerNorm& norm, const float* x, float* y, std::int64_t rows) {
  for (std::int64_t t = 0; t < rows; ++t, x += model_width, y += model_width) {
    float sum = 0;
    for (std::int64_t m = 0; m < model_width; ++m) sum += y[m] += x[m];
    const float mean = sum / static_cast<float>(model_width);
    float squares = 0;
    for (std::int64_t m = 0; m < model_width; ++m) squares += (y[m] - mean) * (y[m] - mean);
    const float factor = 1 / std::sqrt(squares / static_cast<float>(model_width) + LayerNorm::epsilon);
    for (std::int64_t m = 0; m < model_width; ++m) y[m] = (y[m] - mean) * factor * norm.weight[at(m)] + norm.bias[at(m)];
  }
}

/// x[j] = exp(x[j] - max) / sum_j exp(x[j] - max)
void softmax(float* x, std::int64_t size) {
  const float maximum = *std::max_element(x, x + size);
  float sum = 0;
  for (std::int64_t j = 0; j < size; ++j) sum += x[j] = std::exp(x[j] - maximum);
  for (std::int64_t j = 0; j < size; ++j) x[j] /= sum;
}

/// x (1 + erf(x / sqrt(2))) / 2
float gelu(float x) { return 0.5f * x * (1 + std::erf(x * 0.70710678f)); }

/// One head of one sentence. weights [tokens, tokens] has `stride` elements from row to row; context has the model's width.
void attend_head(const float* query, const float* key, const float* value, std::int64_t tokens, float* weights, std::int64_t stride,
                 float* context) {
  constexpr std::int64_t depth = Sizes::depth;
  std::vector<float> columns(at(depth * tokens));  // the keys, [depth, tokens]
  for (std::int64_t j = 0; j < tokens; ++j)
    for (std::int64_t d = 0; d < depth; ++d) columns[at(d * tokens + j)] = key[j * depth + d];
  const float scale = 1 / std::sqrt(static_cast<float>(depth));
  for (std::int64_t i = 0; i < tokens; ++i) {
    float* row = weights + i * stride;
    std::fill(row, row + tokens, 0.0f);
    multiply_add(query + i * depth, columns.data(), row, 1, depth, tokens);
    for (std::int64_t j = 0; j < tokens; ++j) row[j] *= scale;
    softmax(row, tokens);
    multiply_add(row, value, context + i * model_width, 1, tokens, depth);
  }
}

}  // namespace

PlainLoops::PlainLoops(const Model& model) : model_(model) {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = model.layers[i];
    layers_[i] = {transposed(layer.query, model_width),  transposed(layer.key, model_width),
                  transposed(layer.value, model_width),  transposed(layer.projection, model_width),
                  transposed(layer.expand, model_width), transposed(layer.contract, Sizes::hidden)};
  }
}

PlainLoops::Transposed PlainLoops::transposed(const Linear& linear, std::int64_t in) {
  const auto out = static_cast<std::int64_t>(linear.bias.size());
  Transposed result{std::vector<float>(linear.weight.size()), linear.bias, in, out};
  for (std::int64_t o = 0; o < out; ++o)
    for (std::int64_t i = 0; i < in; ++i) result.weight[at(i * out + o)] = linear.weight[at(o * in + i)];
  return result;
}

/// y[r] = x[r] W^T + b
void PlainLoops::apply(const Transposed& linear, const float* x, float* y, std::int64_t rows) {
  for (std::int64_t r = 0; r < rows; ++r) std::copy(linear.bias.begin(), linear.bias.end(), y + r * linear.out);
  multiply_add(x, linear.weight.data(), y, rows, linear.in, linear.out);
}

/// out[b, h, t, d] = row h * depth + d of W x[b, t] + bias
void PlainLoops::split_heads(const Transposed& linear, const Batch& batch, std::span<const float> x, std::vector<float>& out) {
  out.resize(batch.hidden_size());
  std::vector<float> projected(at(batch.tokens * model_width));
  for (std::int64_t b = 0; b < batch.sentences; ++b) {
    const std::int64_t offset = b * batch.tokens * model_width;
    apply(linear, x.data() + offset, projected.data(), batch.lengths[at(b)]);
    for (std::int64_t h = 0; h < Sizes::heads; ++h)
      for (std::int64_t t = 0; t < batch.lengths[at(b)]; ++t)
        std::copy_n(projected.data() + t * model_width + h * Sizes::depth, Sizes::depth,
                    out.data() + offset + (h * batch.tokens + t) * Sizes::depth);
  }
}

PlainLoops::Attention PlainLoops::attention(int layer, const Batch& batch, std::span<const float> x) const {
  const TransposedLayer& weights = layers_[at(layer)];
  Attention result;
  split_heads(weights.query, batch, x, result.query);
  split_heads(weights.key, batch, x, result.key);
  split_heads(weights.value, batch, x, result.value);
  result.weights.resize(batch.weights_size());
  result.context.resize(batch.hidden_size());
  for (std::int64_t b = 0; b < batch.sentences; ++b)
    for (std::int64_t h = 0; h < Sizes::heads; ++h) {
      const std::int64_t head = (b * Sizes::heads + h) * batch.tokens;
      attend_head(result.query.data() + head * Sizes::depth, result.key.data() + head * Sizes::depth,
                  result.value.data() + head * Sizes::depth, batch.lengths[at(b)], result.weights.data() + head * batch.tokens,
                  batch.tokens, result.context.data() + b * batch.tokens * model_width + h * Sizes::depth);
    }
  return result;
}

Result<void> PlainLoops::embed(const Batch& batch, std::span<float> hidden) {
  for (std::int64_t b = 0; b < batch.sentences; ++b) {
    float* sentence = hidden.data() + b * batch.tokens * model_width;
    for (std::int64_t t = 0; t < batch.lengths[at(b)]; ++t) {
      const float* word = model_.words.data() + batch.ids[at(b * batch.tokens + t)] * model_width;
      const float* position = model_.positions.data() + t * model_width;
      for (std::int64_t m = 0; m < model_width; ++m) sentence[t * model_width + m] = word[m] + model_.types[at(m)];
      add_and_normalise(model_.embedding_norm, position, sentence + t * model_width, 1);
    }
  }
  return {};
}

Result<void> PlainLoops::attend(int layer, const Batch& batch, std::span<const float> x, std::span<float> out, std::span<float> weights) {
  const Attention result = attention(layer, batch, x);
  for (std::int64_t b = 0; b < batch.sentences; ++b) {
    const std::int64_t offset = b * batch.tokens * model_width;
    apply(layers_[at(layer)].projection, result.context.data() + offset, out.data() + offset, batch.lengths[at(b)]);
  }
  if (!weights.empty()) std::copy(result.weights.begin(), result.weights.end(), weights.begin());
  return {};
}

Result<void> PlainLoops::finish_layer(int layer, const Batch& batch, std::span<const float> attended, std::span<float> hidden) {
  const Layer& weights = model_.layers[at(layer)];
  std::vector<float> expanded(at(batch.tokens * Sizes::hidden));
  std::vector<float> contracted(at(batch.tokens * model_width));
  for (std::int64_t b = 0; b < batch.sentences; ++b) {
    const std::int64_t rows = batch.lengths[at(b)];
    float* sentence = hidden.data() + b * batch.tokens * model_width;
    add_and_normalise(weights.attention_norm, attended.data() + b * batch.tokens * model_width, sentence, rows);
    apply(layers_[at(layer)].expand, sentence, expanded.data(), rows);
    for (std::int64_t e = 0; e < rows * Sizes::hidden; ++e) expanded[at(e)] = gelu(expanded[at(e)]);
    apply(layers_[at(layer)].contract, expanded.data(), contracted.data(), rows);
    add_and_normalise(weights.output_norm, contracted.data(), sentence, rows);
  }
  return {};
}

Result<void> PlainLoops::pool(const Batch& batch, std::span<const float> hidden, std::span<float> embeddings) {
  for (std::int64_t b = 0; b < batch.sentences; ++b) {
    const float* sentence = hidden.data() + b * batch.tokens * model_width;
    float* embedding = embeddings.data() + b * model_width;
    std::fill(embedding, embedding + model_width, 0.0f);
    for (std::int64_t t = 0; t < batch.lengths[at(b)]; ++t)
      for (std::int64_t m = 0; m < model_width; ++m) embedding[m] += sentence[t * model_width + m];
    float squares = 0;
    for (std::int64_t m = 0; m < model_width; ++m) squares += embedding[m] * embedding[m];
    for (std::int64_t m = 0; m < model_width; ++m) embedding[m] /= std::sqrt(squares);
  }
  return {};
}

}  // namespace sentence_similarity
