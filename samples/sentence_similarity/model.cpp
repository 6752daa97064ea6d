#include "samples/sentence_similarity/model.h"

#include <fmt/format.h>

#include <optional>

#include "samples/sentence_similarity/safetensors.h"

namespace sentence_similarity {
namespace {

/// Reads tensors until the first one that cannot be read.
class Reader {
 public:
  explicit Reader(Safetensors& file) : file_(file) {}

  std::vector<float> tensor(const std::string& name, const std::vector<std::int64_t>& shape) {
    if (problem_) return {};
    auto values = file_.read<float>(name, shape);
    if (values) return std::move(values).value();
    problem_ = values.error();
    return {};
  }
  Linear linear(const std::string& name, std::int64_t out, std::int64_t in) {
    return {tensor(name + ".weight", {out, in}), tensor(name + ".bias", {out})};
  }
  LayerNorm norm(const std::string& name) { return {tensor(name + ".weight", {Sizes::model}), tensor(name + ".bias", {Sizes::model})}; }
  Layer layer(const std::string& prefix) {
    return {.query = linear(prefix + "attention.self.query", Sizes::model, Sizes::model),
            .key = linear(prefix + "attention.self.key", Sizes::model, Sizes::model),
            .value = linear(prefix + "attention.self.value", Sizes::model, Sizes::model),
            .projection = linear(prefix + "attention.output.dense", Sizes::model, Sizes::model),
            .attention_norm = norm(prefix + "attention.output.LayerNorm"),
            .expand = linear(prefix + "intermediate.dense", Sizes::hidden, Sizes::model),
            .contract = linear(prefix + "output.dense", Sizes::model, Sizes::hidden),
            .output_norm = norm(prefix + "output.LayerNorm")};
  }

  const std::optional<Error>& problem() const { return problem_; }

 private:
  Safetensors& file_;
  std::optional<Error> problem_;
};

}  // namespace

Result<Model> Model::open(const std::filesystem::path& path) {
  auto file = Safetensors::open(path);
  if (!file) return file.error();
  Reader reader(*file);
  Model model;
  model.words = reader.tensor("embeddings.word_embeddings.weight", {Sizes::vocabulary, Sizes::model});
  model.positions = reader.tensor("embeddings.position_embeddings.weight", {Sizes::positions, Sizes::model});
  model.types = reader.tensor("embeddings.token_type_embeddings.weight", {2, Sizes::model});
  model.embedding_norm = reader.norm("embeddings.LayerNorm");
  for (std::size_t i = 0; i < model.layers.size(); ++i) model.layers[i] = reader.layer(fmt::format("encoder.layer.{}.", i));
  if (reader.problem()) return *reader.problem();
  return model;
}

}  // namespace sentence_similarity
