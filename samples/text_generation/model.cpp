#include "samples/text_generation/model.h"

#include <fmt/format.h>

#include <optional>
#include <set>

#include "samples/text_generation/blocks.h"

namespace text_generation {
namespace {

using attune::OwnedTensor;

/// The weight [in, out] as reals T in groups of columns: a row of the file is a column here.
template <class T>
void lay_reals(const StoredTensor& tensor, std::int64_t in, std::int64_t out, T* memory) {
  std::vector<float> row(at(in));
  for (std::int64_t column = 0; column < out; ++column) {
    read_reals(tensor, column * in, row);
    T* to = memory + column / Sizes::lane * Sizes::lane * in + column % Sizes::lane;
    for (std::int64_t i = 0; i < in; ++i) to[i * Sizes::lane] = T(row[at(i)]);
  }
}

/// The weight's blocks taken apart: scales and minima [out / lane, in / 32, lane], integers [out / lane, in / 32, bytes of a block, lane].
void lay_blocks(const StoredTensor& tensor, std::int64_t in, std::int64_t out, std::span<const OwnedTensor> parts) {
  const bool has_minima = parts.size() == 3;
  const std::int64_t blocks = in / block_elements, bytes = has_minima ? block_elements / 2 : block_elements;
  auto* scales = parts[0].data<attune::float16>();
  auto* integers = static_cast<std::uint8_t*>(parts.back().view().data);
  for (std::int64_t column = 0; column < out; ++column)
    for (std::int64_t b = 0; b < blocks; ++b) {
      const StoredBlock block = block_of(tensor, column * blocks + b);
      const std::int64_t place = column / Sizes::lane * blocks + b, lane = column % Sizes::lane;
      scales[place * Sizes::lane + lane] = block.scale;
      if (has_minima) parts[1].data<attune::float16>()[place * Sizes::lane + lane] = block.minimum;
      for (std::int64_t i = 0; i < bytes; ++i) integers[(place * bytes + i) * Sizes::lane + lane] = block.integers[i];
    }
}

/// Reads tensors until the first one that cannot be read.
class Reader {
 public:
  Reader(const Gguf& file, WeightForm form) : file_(file), form_(form) {}

  std::vector<float> norm(const std::string& name) {
    std::vector<float> reals(at(Sizes::model));
    const auto tensor = stored(name, {Sizes::model});
    if (tensor) read_reals(*tensor, 0, reals);
    return reals;
  }
  Weight weight(const std::string& name, std::int64_t in, std::int64_t out, TensorType packed = TensorType::q4_1) {
    const auto tensor = stored(name, {in, out});
    if (!tensor) return {};
    const std::int64_t groups = out / Sizes::lane, lane = Sizes::lane, blocks = in / block_elements;
    if (form_ == WeightForm::f32) {
      Weight weight{memory({{attune_f32, {groups, in, lane}}})};
      if (!problem_) lay_reals(*tensor, in, out, weight.parts[0].data<float>());
      return weight;
    }
    if (form_ == WeightForm::bf16) {
      Weight weight{memory({{attune_bf16, {groups, in, lane}}})};
      if (!problem_) lay_reals(*tensor, in, out, weight.parts[0].data<attune::bfloat16>());
      return weight;
    }
    if (tensor->type != packed) {
      problem_ = Error{fmt::format("tensor '{}' is {}; with packed weights it must be {}", name, name_of(tensor->type), name_of(packed))};
      return {};
    }
    const Form scales{attune_f16, {groups, blocks, lane}};
    const bool has_minima = packed == TensorType::q4_1;
    Weight weight{has_minima ? memory({scales, scales, {attune_u8, {groups, blocks, block_elements / 2, lane}}})
                             : memory({scales, {attune_i8, {groups, blocks, block_elements, lane}}})};
    if (!problem_) lay_blocks(*tensor, in, out, weight.parts);
    return weight;
  }
  Layer layer(const std::string& prefix) {
    constexpr std::int64_t model = Sizes::model, keys = Sizes::kv_heads * Sizes::depth, hidden = Sizes::hidden;
    return {.attention_norm = norm(prefix + "attn_norm.weight"),
            .feed_norm = norm(prefix + "ffn_norm.weight"),
            .query = weight(prefix + "attn_q.weight", model, model),
            .key = weight(prefix + "attn_k.weight", model, keys),
            .value = weight(prefix + "attn_v.weight", model, keys),
            .projection = weight(prefix + "attn_output.weight", model, model),
            .gate = weight(prefix + "ffn_gate.weight", model, hidden),
            .up = weight(prefix + "ffn_up.weight", model, hidden),
            .down = weight(prefix + "ffn_down.weight", hidden, model)};
  }
  const std::optional<Error>& problem() const { return problem_; }
  /// Names of the tensors that were asked for.
  const std::set<std::string>& read() const { return read_; }

 private:
  struct Form {
    attune_storage storage;
    std::vector<std::int64_t> extents;
  };

  std::optional<StoredTensor> stored(const std::string& name, const std::vector<std::int64_t>& shape) {
    if (problem_) return std::nullopt;
    read_.insert(name);
    auto tensor = file_.tensor(name, shape);
    if (tensor) return std::move(tensor).value();
    problem_ = tensor.error();
    return std::nullopt;
  }
  std::vector<OwnedTensor> memory(const std::vector<Form>& forms) {
    std::vector<OwnedTensor> tensors;
    for (const Form& form : forms) {
      auto tensor = attune::allocate(form.storage, form.extents);
      if (!tensor) problem_ = tensor.error();
      if (problem_) return {};
      tensors.push_back(std::move(tensor).value());
    }
    return tensors;
  }

  const Gguf& file_;
  const WeightForm form_;
  std::set<std::string> read_;
  std::optional<Error> problem_;
};

Result<void> check_sizes(const Gguf& file) {
  const auto architecture = file.value<std::string>("general.architecture");
  if (!architecture) return architecture.error();
  if (*architecture != "llama") return Error{fmt::format("model: its architecture is {:?}; 'llama' is known", *architecture)};
  if (file.has_value("llama.rope.scaling.type")) return Error{"model: has llama.rope.scaling.type; the positions of SmolLM2-135M are not scaled"};
  if (const auto adds = file.value<std::int64_t>("tokenizer.ggml.add_bos_token"); adds && *adds != 0)
    return Error{"model: tokenizer.ggml.add_bos_token is true; nothing stands before the texts of SmolLM2-135M"};
  constexpr std::int64_t heads = Sizes::kv_heads * Sizes::group;
  for (const auto& [name, expected] :
       {std::pair("llama.block_count", Sizes::layers), std::pair("llama.embedding_length", Sizes::model),
        std::pair("llama.feed_forward_length", Sizes::hidden), std::pair("llama.attention.head_count", heads),
        std::pair("llama.attention.head_count_kv", Sizes::kv_heads), std::pair("llama.rope.dimension_count", Sizes::depth),
        std::pair("llama.context_length", Sizes::context)}) {
    const auto found = file.value<std::int64_t>(name);
    if (!found) return found.error();
    if (*found != expected) return Error{fmt::format("model: {} is {}; the kernels are those of SmolLM2-135M, which has {}", name, *found, expected)};
  }
  for (const auto& [name, expected] :
       {std::pair("llama.rope.freq_base", Sizes::base), std::pair("llama.attention.layer_norm_rms_epsilon", Sizes::epsilon)}) {
    const auto found = file.value<double>(name);
    if (!found) return found.error();
    if (static_cast<float>(*found) != static_cast<float>(expected))
      return Error{fmt::format("model: {} is {}; the kernels are those of SmolLM2-135M, which has {}", name, *found, expected)};
  }
  return {};
}

}  // namespace

std::int64_t Weight::bytes() const {
  std::int64_t sum = 0;
  for (const OwnedTensor& part : parts) sum += part.view().element_count() * attune::bytes_of(part.view().storage);
  return sum;
}

std::int64_t Model::bytes() const {
  std::int64_t sum = embedding.bytes();
  for (const Layer& layer : layers)
    for (const Weight* weight : {&layer.query, &layer.key, &layer.value, &layer.projection, &layer.gate, &layer.up, &layer.down})
      sum += weight->bytes();
  return sum;
}

Result<Model> Model::of(const Gguf& file, WeightForm form) {
  if (const auto checked = check_sizes(file); !checked) return checked.error();
  Reader reader(file, form);
  Model model;
  model.form = form;
  model.embedding = reader.weight("token_embd.weight", Sizes::model, Sizes::vocabulary, TensorType::q8_0);
  for (std::int64_t i = 0; i < Sizes::layers; ++i) model.layers.push_back(reader.layer(fmt::format("blk.{}.", i)));
  model.norm = reader.norm("output_norm.weight");
  if (reader.problem()) return *reader.problem();
  for (const std::string& name : file.tensor_names())
    if (!reader.read().contains(name)) return Error{fmt::format("model: has a tensor '{}'; SmolLM2-135M has none of that name", name)};
  return model;
}

}  // namespace text_generation
