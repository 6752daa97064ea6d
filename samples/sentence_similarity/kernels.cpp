#include "samples/sentence_similarity/kernels.h"

#include <algorithm>
#include <array>

#include "minilm_attention.h"
#include "minilm_attention_weights.h"
#include "minilm_embed.h"
#include "minilm_finish_layer.h"
#include "minilm_pool.h"

namespace sentence_similarity {
namespace {

using attune::Kernel;
using attune::Result;
using attune::Tensor;

/// Inputs and outputs in the order of the manifest.
Result<void> call(const Kernel& kernel, std::initializer_list<Tensor> tensors) {
  return kernel.call(std::span(tensors.begin(), tensors.size()));
}

/// A vector of the model's width.
Tensor row(const std::vector<float>& values) { return {values, {Sizes::model}}; }

/// Weight and bias of q, k or v: a row of W makes one element of one head.
std::array<Tensor, 2> heads_of(const Linear& linear) {
  return {Tensor(linear.weight, {Sizes::heads, Sizes::depth, Sizes::model}), Tensor(linear.bias, {Sizes::heads, Sizes::depth})};
}

/// Calls `visit(padded, real)` for each sentence: where its rows begin in [sentences, tokens, model] and among the real tokens' rows.
template <class Visit>
void for_each_sentence(const Batch& batch, Visit visit) {
  std::int64_t real = 0;
  for (std::int64_t b = 0; b < batch.sentences; real += batch.lengths[at(b++)] * Sizes::model)
    visit(b * batch.tokens * Sizes::model, real, batch.lengths[at(b)] * Sizes::model);
}

/// The rows of the real tokens.
void leave_padding_out(const Batch& batch, std::span<const float> x, std::vector<float>& rows) {
  rows.resize(at(batch.real_tokens() * Sizes::model));
  for_each_sentence(batch, [&](auto padded, auto real, auto count) { std::copy_n(x.data() + padded, count, rows.data() + real); });
}

}  // namespace

Result<Kernels> Kernels::of(const Model& model) {
  std::vector<Kernel> kernels;
  for (const attune_kernel_v5* manifest :
       {&attune_kernel_v5_minilm_embed, &attune_kernel_v5_minilm_attention, &attune_kernel_v5_minilm_attention_weights,
        &attune_kernel_v5_minilm_finish_layer, &attune_kernel_v5_minilm_pool}) {
    auto kernel = Kernel::from(*manifest);
    if (!kernel) return kernel.error();
    kernels.push_back(std::move(kernel).value());
  }
  return Kernels(model,
                 {std::move(kernels[0]), std::move(kernels[1]), std::move(kernels[2]), std::move(kernels[3]), std::move(kernels[4])});
}

Result<void> Kernels::embed(const Batch& batch, std::span<float> hidden) {
  return call(compiled_.embed, {{batch.ids, {batch.sentences, batch.tokens}},
                                {model_.words, {Sizes::vocabulary, Sizes::model}},
                                {model_.positions, {Sizes::positions, Sizes::model}},
                                {model_.types, {Sizes::model}},
                                row(model_.embedding_norm.weight),
                                row(model_.embedding_norm.bias),
                                {hidden, {batch.sentences, batch.tokens, Sizes::model}}});
}

Result<void> Kernels::attend(int layer, const Batch& batch, std::span<const float> x, std::span<float> out, std::span<float> weights) {
  const Layer& of = model_.layers[at(layer)];
  const auto [wq, bq] = heads_of(of.query);
  const auto [wk, bk] = heads_of(of.key);
  const auto [wv, bv] = heads_of(of.value);
  const Tensor wo(of.projection.weight, {Sizes::model, Sizes::heads, Sizes::depth}), bo = row(of.projection.bias);
  const Tensor in(x, {batch.sentences, batch.tokens, Sizes::model}), result(out, {batch.sentences, batch.tokens, Sizes::model});
  const Tensor lengths(batch.lengths, {batch.sentences});
  if (weights.empty()) return call(compiled_.attention, {in, wq, bq, wk, bk, wv, bv, lengths, wo, bo, result});
  const Tensor second(weights, {batch.sentences, Sizes::heads, batch.tokens, batch.tokens});
  return call(compiled_.attention_weights, {in, wq, bq, wk, bk, wv, bv, lengths, wo, bo, result, second});
}

Result<void> Kernels::finish_layer(int layer, const Batch& batch, std::span<const float> attended, std::span<float> hidden) {
  const Layer& of = model_.layers[at(layer)];
  const std::int64_t rows = batch.real_tokens();
  leave_padding_out(batch, attended, attended_);
  leave_padding_out(batch, hidden, hidden_);
  finished_.resize(hidden_.size());
  const auto done = call(compiled_.finish_layer, {{attended_, {rows, Sizes::model}},
                                                  {hidden_, {rows, Sizes::model}},
                                                  row(of.attention_norm.weight),
                                                  row(of.attention_norm.bias),
                                                  {of.expand.weight, {Sizes::hidden, Sizes::model}},
                                                  {of.expand.bias, {Sizes::hidden}},
                                                  {of.contract.weight, {Sizes::model, Sizes::hidden}},
                                                  row(of.contract.bias),
                                                  row(of.output_norm.weight),
                                                  row(of.output_norm.bias),
                                                  {finished_, {rows, Sizes::model}}});
  if (!done) return done;
  for_each_sentence(batch,
                    [&](auto padded, auto real, auto count) { std::copy_n(finished_.data() + real, count, hidden.data() + padded); });
  return {};
}

Result<void> Kernels::pool(const Batch& batch, std::span<const float> hidden, std::span<float> embeddings) {
  return call(compiled_.pool, {{hidden, {batch.sentences, batch.tokens, Sizes::model}},
                               {batch.lengths, {batch.sentences}},
                               {embeddings, {batch.sentences, Sizes::model}}});
}

}  // namespace sentence_similarity
