#include "samples/sentence_similarity/kernels.h"

#include "minilm_attention.hpp"
#include "minilm_attention_weights.hpp"
#include "minilm_embed.hpp"
#include "minilm_finish_layer.hpp"
#include "minilm_pool.hpp"

namespace sentence_similarity {
namespace {

using attune::Result;
using attune::Tensor;

/// A vector of the model's width.
Tensor row(const std::vector<float>& values) { return {values, {Sizes::model}}; }

/// Weight and bias of q, k or v: a row of W makes one element of one head.
std::array<Tensor, 2> heads_of(const Linear& linear) {
  return {Tensor(linear.weight, {Sizes::heads, Sizes::depth, Sizes::model}), Tensor(linear.bias, {Sizes::heads, Sizes::depth})};
}

}  // namespace

Result<void> Kernels::embed(const Batch& batch, std::span<float> hidden) {
  return attune::kernels::minilm_embed(
      {batch.ids, {batch.sentences, batch.tokens}}, {model_.words, {Sizes::vocabulary, Sizes::model}},
      {model_.positions, {Sizes::positions, Sizes::model}}, {model_.types, {Sizes::model}}, row(model_.embedding_norm.weight),
      row(model_.embedding_norm.bias), {hidden, {batch.sentences, batch.tokens, Sizes::model}});
}

Result<void> Kernels::attend(int layer, const Batch& batch, std::span<const float> x, std::span<float> out, std::span<float> weights) {
  const Layer& of = model_.layers[at(layer)];
  const auto [wq, bq] = heads_of(of.query);
  const auto [wk, bk] = heads_of(of.key);
  const auto [wv, bv] = heads_of(of.value);
  const Tensor wo(of.projection.weight, {Sizes::model, Sizes::heads, Sizes::depth});
  const Tensor in(x, {batch.sentences, batch.tokens, Sizes::model}), result(out, {batch.sentences, batch.tokens, Sizes::model});
  const Tensor lengths(batch.lengths, {batch.sentences});
  if (weights.empty())
    return attune::kernels::minilm_attention(in, wq, bq, wk, bk, wv, bv, lengths, wo, row(of.projection.bias), result);
  return attune::kernels::minilm_attention_weights(in, wq, bq, wk, bk, wv, bv, lengths, wo, row(of.projection.bias), result,
                                                   {weights, {batch.sentences, Sizes::heads, batch.tokens, batch.tokens}});
}

Result<void> Kernels::finish_layer(int layer, const Batch& batch, std::span<const float> attended, std::span<float> hidden) {
  const Layer& of = model_.layers[at(layer)];
  const std::int64_t rows = batch.sentences * batch.tokens;
  std::vector<float> out(hidden.size());
  const auto done = attune::kernels::minilm_finish_layer(
      {attended, {rows, Sizes::model}}, {hidden, {rows, Sizes::model}}, row(of.attention_norm.weight), row(of.attention_norm.bias),
      {of.expand.weight, {Sizes::hidden, Sizes::model}}, {of.expand.bias, {Sizes::hidden}},
      {of.contract.weight, {Sizes::model, Sizes::hidden}}, row(of.contract.bias), row(of.output_norm.weight), row(of.output_norm.bias),
      {out, {rows, Sizes::model}});
  if (done) std::copy(out.begin(), out.end(), hidden.begin());
  return done;
}

Result<void> Kernels::pool(const Batch& batch, std::span<const float> hidden, std::span<float> embeddings) {
  return attune::kernels::minilm_pool({hidden, {batch.sentences, batch.tokens, Sizes::model}}, {batch.lengths, {batch.sentences}},
                                      {embeddings, {batch.sentences, Sizes::model}});
}

}  // namespace sentence_similarity
