#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "samples/text_generation/decoder.h"
#include "samples/text_generation/sampler.h"
#include "tests/folder.h"

using namespace text_generation;
using Catch::Matchers::Contains;

namespace {

Model model_of(WeightForm form) {
  const auto file = Gguf::open(TEXT_GENERATION_MODEL);
  return Model::of(file.value(), form).value();
}

/// Runs of the model in double precision.
const nlohmann::json& expected_runs() {
  static const auto runs = nlohmann::json::parse(attune::contents(TEXT_GENERATION_DATA "/expected.json"))["runs"];
  return runs;
}

/// The largest difference of the ten largest logits, and of the logarithm of the sum of all exponentials.
double difference(std::span<const float> logits, const nlohmann::json& run) {
  double largest = 0, sum = 0;
  for (const auto& entry : run["first_step_top10"])
    largest = std::max(largest, std::abs(static_cast<double>(logits[entry[0].get<std::size_t>()]) - entry[2].get<double>()));
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit));
  return std::max(largest, std::abs(std::log(sum) - run["first_step_logsumexp"].get<double>()));
}

std::vector<Token> continuation(Decoder& decoder, std::span<const float> logits, std::size_t count) {
  std::vector<Token> tokens;
  while (true) {
    tokens.push_back(greedy(logits));
    if (tokens.size() == count) return tokens;
    logits = decoder.read(std::span(&tokens.back(), 1)).value();
  }
}

}  // namespace

TEST_CASE("with weights in f32 the first logits and all ids are those of double precision", "[text_generation]") {
  const Model model = model_of(WeightForm::f32);
  auto decoder = Decoder::of(model, 64).value();
  for (const auto& run : expected_runs()) {
    CAPTURE(run["prompt"].get<std::string>());
    decoder.go_back_to(0);
    const auto logits = decoder.read(run["prompt_ids"].get<std::vector<Token>>()).value();
    CHECK(difference(logits, run) < 1e-3);
    CHECK(continuation(decoder, logits, 32) == run["generated_ids"].get<std::vector<Token>>());
  }

  // a prompt token by token, and what is refused
  decoder.go_back_to(0);
  std::span<const float> logits;
  for (const Token token : expected_runs()[0]["prompt_ids"].get<std::vector<Token>>()) logits = decoder.read(std::span(&token, 1)).value();
  CHECK(difference(logits, expected_runs()[0]) < 1e-3);
  const std::vector<Token> many(60, 504);
  CHECK(decoder.read(many).error().message == "context: is full: 5 tokens and 60 more are beyond its 64; a shorter text fits");
  CHECK(decoder.read({}).error().message == "decoder: there is no token to read; a text has one at least");
}

TEST_CASE("packed weights give the same ids, multiplied as the file stores them", "[text_generation]") {
  const Model model = model_of(WeightForm::packed);
  CHECK(model.bytes() < 97'000'000);
  auto decoder = Decoder::of(model, 64).value();
  const auto& run = expected_runs()[1];
  const auto logits = decoder.read(run["prompt_ids"].get<std::vector<Token>>()).value();
  CHECK(difference(logits, run) < 1e-3);
  CHECK(continuation(decoder, logits, 32) == run["generated_ids"].get<std::vector<Token>>());
}

/// 30 layers of products whose weights are off by 2^-9 of themselves at most: some 0.05 in logits of 17.
TEST_CASE("weights in bf16 give logits near those of f32", "[text_generation]") {
  const Model model = model_of(WeightForm::bf16);
  auto decoder = Decoder::of(model, 64).value();
  for (const auto& run : expected_runs()) {
    const auto logits = decoder.read(run["prompt_ids"].get<std::vector<Token>>()).value();
    CHECK(difference(logits, run) < 0.25);
    CHECK(greedy(logits) == run["generated_ids"][0].get<Token>());
    decoder.go_back_to(0);
  }
}
