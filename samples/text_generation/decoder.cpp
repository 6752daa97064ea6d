#include "samples/text_generation/decoder.h"

#include <fmt/format.h>

#include <array>
#include <numeric>

#include "text_generation_angles.h"
#include "text_generation_embed_bf16.h"
#include "text_generation_embed_f32.h"
#include "text_generation_embed_packed.h"
#include "text_generation_layer_bf16.h"
#include "text_generation_layer_f32.h"
#include "text_generation_layer_packed.h"
#include "text_generation_logits_bf16.h"
#include "text_generation_logits_f32.h"
#include "text_generation_logits_packed.h"

namespace text_generation {
namespace {

using attune::Kernel;
using attune::Tensor;

constexpr std::int64_t lane = Sizes::lane, model_blocks = Sizes::model / lane, hidden_blocks = Sizes::hidden / lane;
constexpr std::int64_t vocabulary_blocks = Sizes::vocabulary / lane;
constexpr std::int64_t pairs = Sizes::depth / 2, cache_row = Sizes::kv_heads * Sizes::depth;

struct Manifests {
  const attune_kernel_v5 *embed, *layer, *logits;
};
/// In the order of WeightForm.
constexpr std::array<Manifests, 3> manifests = {
    {{&attune_kernel_v5_text_generation_embed_f32, &attune_kernel_v5_text_generation_layer_f32, &attune_kernel_v5_text_generation_logits_f32},
     {&attune_kernel_v5_text_generation_embed_bf16, &attune_kernel_v5_text_generation_layer_bf16, &attune_kernel_v5_text_generation_logits_bf16},
     {&attune_kernel_v5_text_generation_embed_packed, &attune_kernel_v5_text_generation_layer_packed,
      &attune_kernel_v5_text_generation_logits_packed}}};

/// A view of tokens' rows of the model's width.
Tensor rows(std::span<const float> x, std::int64_t tokens) { return {x, {tokens, model_blocks, lane}}; }
Tensor rows(std::vector<float>& x, std::int64_t tokens) { return {std::span(x), {tokens, model_blocks, lane}}; }

/// Appends the tensors of a weight [outside.., in, lane]: `outside` are the extents in front of the innermost 64 of `in`.
void append(std::vector<Tensor>& tensors, const Weight& weight, std::initializer_list<std::int64_t> outside) {
  for (const attune::OwnedTensor& part : weight.parts) {
    const Tensor& all = part.view();
    std::vector<std::int64_t> extents(outside);
    if (all.rank == 4) {  // integers [.., blocks, bytes of a block, lane]
      extents.insert(extents.end(), {2, all.extents[2], lane});
    } else if (weight.parts.size() > 1) {  // scales and minima [.., blocks, lane]
      extents.insert(extents.end(), {2, lane});
    } else {
      extents.insert(extents.end(), {lane, lane});
    }
    tensors.emplace_back(static_cast<const void*>(all.data), all.storage, attune::Sizes(extents));
  }
}

}  // namespace

Result<Decoder::Compiled> Decoder::compiled_for(WeightForm form) {
  const Manifests& of_form = manifests[static_cast<std::size_t>(form)];
  std::vector<Kernel> kernels;
  for (const attune_kernel_v5* manifest : {&attune_kernel_v5_text_generation_angles, of_form.embed, of_form.layer, of_form.logits}) {
    auto kernel = Kernel::from(*manifest);
    if (!kernel) return kernel.error();
    kernels.push_back(std::move(kernel).value());
  }
  return Compiled{kernels[0], kernels[1], kernels[2], kernels[3]};
}

Decoder::Decoder(const Model& model, Compiled compiled, std::int64_t capacity) : model_(model), compiled_(std::move(compiled)), capacity_(capacity) {
  const auto memory = [&] { return std::make_unique_for_overwrite<float[]>(at(capacity * cache_row)); };
  for (std::int64_t i = 0; i < Sizes::layers; ++i) caches_.push_back({memory(), memory()});
  logits_.resize(at(Sizes::vocabulary));
}

Result<Decoder> Decoder::of(const Model& model, std::int64_t capacity) {
  auto compiled = compiled_for(model.form);
  if (!compiled) return compiled.error();
  return Decoder(model, std::move(compiled).value(), capacity);
}

Result<void> Decoder::call(const Kernel& kernel, std::span<const Tensor> tensors) { return kernel.call(tensors, workspace_.get()); }

Result<std::span<const float>> Decoder::read(std::span<const Token> tokens) {
  const std::int64_t count = std::ssize(tokens);
  if (count == 0) return Error{"decoder: there is no token to read; a text has one at least"};
  if (count > capacity_ - position_)
    return Error{fmt::format("context: is full: {} tokens and {} more are beyond its {}; a shorter text fits", position_, count, capacity_)};
  for (std::int64_t begin = 0; begin < count; begin += tile) {
    const auto part = tokens.subspan(at(begin), at(std::min(tile, count - begin)));
    if (auto read = read_tile(part); !read) return read.error();
  }
  const std::int64_t last = (count - 1) % tile;
  std::vector<Tensor> tensors = {rows(std::span(x_).subspan(at(last * Sizes::model)), 1), {std::span(model_.norm), {model_blocks, lane}}};
  append(tensors, model_.embedding, {vocabulary_blocks, model_blocks});
  tensors.emplace_back(std::span(logits_), attune::Sizes{1, vocabulary_blocks, lane});
  if (auto done = call(compiled_.logits, tensors); !done) return done.error();
  return std::span<const float>(logits_);
}

Result<void> Decoder::read_tile(std::span<const Token> tokens) {
  const std::int64_t count = std::ssize(tokens);
  for (std::vector<float>* memory : {&x_, &y_})
    if (memory->size() < at(count * Sizes::model)) memory->resize(at(count * Sizes::model));
  for (std::vector<float>* memory : {&cosine_, &sine_})
    if (memory->size() < at(count * pairs)) memory->resize(at(count * pairs));
  const std::vector<std::int64_t> ids(tokens.begin(), tokens.end());
  std::vector<std::int64_t> positions(ids.size());
  std::iota(positions.begin(), positions.end(), position_);
  const std::array<Tensor, 3> angles = {Tensor(positions, {count}), Tensor(std::span(cosine_), {count, pairs}),
                                        Tensor(std::span(sine_), {count, pairs})};
  if (auto done = call(compiled_.angles, angles); !done) return done;
  std::vector<Tensor> embedded = {{ids, {count}}};
  append(embedded, model_.embedding, {vocabulary_blocks, model_blocks});
  embedded.push_back(rows(x_, count));
  if (auto done = call(compiled_.embed, embedded); !done) return done;
  for (std::size_t i = 0; i < caches_.size(); ++i)
    if (auto done = run_layer(model_.layers[i], caches_[i], count); !done) return done;
  position_ += count;
  return {};
}

/// The kernel gets the cache up to the rows that it writes. In memory a head's rows are neighbours, which a decode reads as one stream.
Result<void> Decoder::run_layer(const Layer& layer, Cache& cache, std::int64_t tokens) {
  constexpr std::int64_t kv_heads = Sizes::kv_heads, group = Sizes::group, depth = Sizes::depth;
  const auto norm = [](const std::vector<float>& weight) { return Tensor(weight, {model_blocks, lane}); };
  const auto rows_of = [&](float* memory) { return Tensor(memory, {position_ + tokens, kv_heads, depth}, {depth, capacity_ * depth, 1}); };
  std::vector<Tensor> tensors = {rows(std::span<const float>(x_), tokens), Tensor(std::span<const float>(cosine_), {tokens, pairs}),
                                 Tensor(std::span<const float>(sine_), {tokens, pairs}), rows_of(cache.keys.get()), rows_of(cache.values.get()),
                                 norm(layer.attention_norm), norm(layer.feed_norm)};
  append(tensors, layer.query, {kv_heads, group, model_blocks});
  append(tensors, layer.key, {kv_heads, model_blocks});
  append(tensors, layer.value, {kv_heads, model_blocks});
  append(tensors, layer.projection, {model_blocks, kv_heads, group});
  append(tensors, layer.gate, {hidden_blocks, model_blocks});
  append(tensors, layer.up, {hidden_blocks, model_blocks});
  append(tensors, layer.down, {model_blocks, hidden_blocks});
  tensors.push_back(rows(y_, tokens));
  auto done = call(compiled_.layer, tensors);
  std::swap(x_, y_);
  return done;
}

}  // namespace text_generation
