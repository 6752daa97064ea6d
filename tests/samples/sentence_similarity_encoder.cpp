#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "samples/sentence_similarity/implementations.h"
#include "samples/sentence_similarity/plain.h"
#include "samples/sentence_similarity/safetensors.h"
#include "tests/folder.h"

using namespace sentence_similarity;
using Catch::Matchers::Contains;

namespace {

using Shape = std::vector<std::int64_t>;

const Shape hidden_shape = {4, 16, Sizes::model};
const Shape heads_shape = {4, Sizes::heads, 16, Sizes::depth};
const Shape weights_shape = {4, Sizes::heads, 16, 16};

const Model& model() {
  static const auto opened = Model::open(SENTENCE_SIMILARITY_MODEL);
  return opened.value();
}

template <class T>
std::vector<T> expected(const std::string& name, const Shape& shape) {
  static auto file = Safetensors::open(std::filesystem::path(SENTENCE_SIMILARITY_DATA) / "expected.safetensors");
  return file.value().read<T>(name, shape).value();
}

Batch expected_batch() {
  const auto ids = expected<std::int32_t>("token_ids", {4, 16});
  const auto lengths = expected<std::int32_t>("lengths", {4});
  return {4, 16, ids, {lengths.begin(), lengths.end()}};
}

/// What a sum of `length` products in f32 may be off where sums reach `largest`: each of the additions rounds by at most
/// 2^-24 of it, independently of the others, so that sqrt(length) of that is their spread; 4 times that is never passed.
double allowed(int length, double largest) { return 4 * std::ldexp(std::sqrt(length), -24) * largest; }

double largest_of(std::span<const double> values) {
  double largest = 0;
  for (double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

/// What a comparison of [batch, outer, tokens, inner] found, padding left out.
struct Comparison {
  double difference = 0;  // NaN counts as infinite
  std::int64_t compared = 0;
};

/// Compares rows t < lengths[b] of got and expected; with `is_square` only the columns j < lengths[b] too.
Comparison compare(std::span<const float> got, std::span<const double> right, const Batch& batch, std::int64_t outer, std::int64_t inner,
                   bool is_square = false) {
  REQUIRE(got.size() == right.size());
  REQUIRE(right.size() == at(batch.sentences * outer * batch.tokens * inner));
  Comparison result;
  for (std::int64_t row = 0; row < batch.sentences * outer * batch.tokens; ++row) {
    const std::int64_t length = batch.lengths[at(row / (outer * batch.tokens))];
    if (row % batch.tokens >= length) continue;
    for (std::int64_t i = 0; i < (is_square ? length : inner); ++i, ++result.compared) {
      const double difference = std::abs(static_cast<double>(got[at(row * inner + i)]) - right[at(row * inner + i)]);
      result.difference = std::max(result.difference, std::isnan(difference) ? INFINITY : difference);
    }
  }
  return result;
}

constexpr std::int64_t real_tokens = 44;  // of the four sentences

void check_hidden(std::span<const float> got, const std::string& name, const Batch& batch) {
  INFO(name);
  const auto right = expected<double>(name, hidden_shape);
  const Comparison found = compare(got, right, batch, 1, Sizes::model);
  CHECK(found.compared == real_tokens * Sizes::model);
  CHECK(found.difference <= allowed(Sizes::model, largest_of(right)));
}

}  // namespace

TEST_CASE("every implementation gives the expected embeddings and hidden states", "[sentence_similarity]") {
  const Batch batch = expected_batch();
  const auto embeddings = expected<double>("embeddings", {4, Sizes::model});
  const auto implementations = implementations_of(model());
  REQUIRE(implementations);
  for (const auto& implementation : *implementations) {
    INFO(implementation->name());
    const auto encoding = encode(*implementation, batch, {.weights_of_layer = {}, .hidden = true});
    REQUIRE(encoding);
    REQUIRE(encoding->embeddings.size() == embeddings.size());
    for (std::size_t i = 0; i < embeddings.size(); ++i)
      REQUIRE(std::abs(static_cast<double>(encoding->embeddings[i]) - embeddings[i]) <= 2e-6);
    REQUIRE(encoding->hidden.size() == 7);
    check_hidden(encoding->hidden[0], "layer0_hidden", batch);
    check_hidden(encoding->hidden[5], "layer5_hidden", batch);
    check_hidden(encoding->hidden[6], "last_hidden", batch);
    CHECK(encoding->weights.empty());
  }
}

TEST_CASE("every implementation gives the expected attention weights", "[sentence_similarity]") {
  const Batch batch = expected_batch();
  const auto implementations = implementations_of(model());
  REQUIRE(implementations);
  const auto [layer, largest_score] = GENERATE(table<int, double>({{0, 30}, {5, 6}}));  // scores: data/README.md
  for (const auto& implementation : *implementations) {
    INFO(implementation->name() << ", layer " << layer);
    const auto encoding = encode(*implementation, batch, {.weights_of_layer = layer});
    REQUIRE(encoding);
    const auto right = expected<double>("layer" + std::to_string(layer) + "_P", weights_shape);
    const Comparison found = compare(encoding->weights, right, batch, Sizes::heads, 16, true);
    CHECK(found.compared == Sizes::heads * (16 * 16 + 8 * 8 + 11 * 11 + 9 * 9));
    CHECK(found.difference <= allowed(Sizes::model, largest_score));
    CHECK(encoding->hidden.empty());
  }
}

TEST_CASE("each step of the attention in plain loops is as expected", "[sentence_similarity]") {
  const Batch batch = expected_batch();
  const PlainLoops plain(model());
  const int layer = GENERATE(0, 5);
  const std::string prefix = "layer" + std::to_string(layer) + "_";
  const auto hidden = expected<double>(prefix + "hidden", hidden_shape);
  const std::vector<float> x(hidden.begin(), hidden.end());
  const PlainLoops::Attention steps = plain.attention(layer, batch, x);

  const auto check_heads = [&](const char* name, const std::vector<float>& got) {
    INFO(prefix << name);
    const auto right = expected<double>(prefix + name, heads_shape);
    const Comparison found = compare(got, right, batch, Sizes::heads, Sizes::depth);
    CHECK(found.compared == real_tokens * Sizes::model);
    CHECK(found.difference <= allowed(Sizes::model, largest_of(right)));
  };
  check_heads("Q", steps.query);
  check_heads("K", steps.key);
  check_heads("V", steps.value);
  check_hidden(steps.context, prefix + "context", batch);
}

TEST_CASE("a sentence's embedding does not depend on its neighbours", "[sentence_similarity]") {
  const Batch batch = expected_batch();
  const auto implementations = implementations_of(model());
  REQUIRE(implementations);
  for (const auto& implementation : *implementations) {
    INFO(implementation->name());
    const auto together = encode(*implementation, batch);
    REQUIRE(together);
    for (std::int64_t b = 0; b < batch.sentences; ++b) {
      const auto begin = batch.ids.begin() + b * batch.tokens;
      const std::vector<std::int32_t> ids(begin, begin + batch.lengths[at(b)]);
      const auto alone = encode(*implementation, batch_of(std::vector{ids, {101, 102}}));
      REQUIRE(alone);
      for (std::int64_t m = 0; m < Sizes::model; ++m)
        REQUIRE(std::abs(alone->embeddings[at(m)] - together->embeddings[at(b * Sizes::model + m)]) <= 2e-6f);
    }
  }
}

TEST_CASE("a sentence as long as the model takes is encoded", "[sentence_similarity]") {
  std::vector<std::int32_t> ids(at(Sizes::positions), 2773);
  ids.front() = 101;
  ids.back() = 102;
  const auto implementations = implementations_of(model());
  REQUIRE(implementations);
  for (const auto& implementation : *implementations) {
    INFO(implementation->name());
    const auto encoding = encode(*implementation, batch_of(std::vector<std::vector<std::int32_t>>{ids}), {.weights_of_layer = 2});
    REQUIRE(encoding);
    double squares = 0;
    for (float element : encoding->embeddings) squares += static_cast<double>(element) * static_cast<double>(element);
    CHECK(std::abs(squares - 1) <= allowed(Sizes::model, 1));
    for (std::size_t row = 0; row < encoding->weights.size(); row += ids.size()) {
      double sum = 0;
      for (std::size_t j = 0; j < ids.size(); ++j) sum += static_cast<double>(encoding->weights[row + j]);
      REQUIRE(std::abs(sum - 1) <= allowed(Sizes::positions, 1));
    }
  }
}

TEST_CASE("a model file of other sizes is refused", "[sentence_similarity]") {
  const attune::Folder folder;
  const std::string header = R"({"embeddings.word_embeddings.weight":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}})";
  std::string text(8, '\0');
  text[0] = static_cast<char>(header.size());
  const auto opened = Model::open(folder.write("x.safetensors", text + header + std::string(8, '\0')));
  REQUIRE_FALSE(opened);
  CHECK_THAT(opened.error().message, Contains("tensor 'embeddings.word_embeddings.weight' is F32 [1 x 2], expected F32 [30522 x 384]"));
}
