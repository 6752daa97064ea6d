// Compares sentences by the meaning that all-MiniLM-L6-v2 gives them, with every implementation of its encoder beside the others.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <new>

#include "samples/sentence_similarity/heat_map.h"
#include "samples/sentence_similarity/implementations.h"
#include "samples/sentence_similarity/report.h"
#include "samples/sentence_similarity/safetensors.h"
#include "samples/sentence_similarity/wordpiece.h"

namespace sentence_similarity {
namespace {

using attune::Error;
using attune::Result;

constexpr double largest_allowed_difference = 2e-6;  // of an embedding's element in f32, from the model's data page

struct Options {
  std::filesystem::path model = SENTENCE_SIMILARITY_MODEL;
  std::filesystem::path data = SENTENCE_SIMILARITY_DATA;
  std::filesystem::path heat_map;
  int layer = 5, head = 11;  // where "it" gives most of its weight to the animal
  int sentence = 1;
  double seconds = 1;
  std::vector<std::string> sentences;
};

/// The sentences as text, as tokens and as a batch.
struct Input {
  std::vector<std::string> sentences;
  std::vector<Tokens> tokens;
  Batch batch;
  bool has_expected = false;  ///< they are those of the data folder
};

/// A file's lines.
Result<std::vector<std::string>> lines_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) return Error{fmt::format("file '{}': cannot be opened", path.string())};
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(std::move(line));
  return lines;
}

Result<Input> read_input(const Options& options) {
  Input input;
  input.sentences = options.sentences;
  input.has_expected = options.sentences.empty();
  if (input.has_expected) {
    auto lines = lines_of(options.data / "sentences.txt");
    if (!lines) return lines.error();
    input.sentences = std::move(lines).value();
  }
  if (input.sentences.empty()) return Error{fmt::format("file '{}': has no sentences", (options.data / "sentences.txt").string())};
  if (options.sentence > static_cast<int>(input.sentences.size()))
    return Error{fmt::format("--sentence: {} is not one of the sentences; expected 1 to {}", options.sentence, input.sentences.size())};
  const auto tokenizer = WordPiece::open(options.model.parent_path() / "vocab.txt");
  if (!tokenizer) return tokenizer.error();
  if (tokenizer->vocabulary_size() != Sizes::vocabulary)
    return Error{
        fmt::format("vocabulary: vocab.txt beside the model has {} tokens, expected {}", tokenizer->vocabulary_size(), Sizes::vocabulary)};
  std::vector<std::vector<std::int32_t>> ids;
  for (std::size_t b = 0; b < input.sentences.size(); ++b) {
    auto tokens = tokenizer->tokens_of(input.sentences[b], Sizes::positions);
    if (!tokens) return Error{fmt::format("sentence {}: {}", b + 1, tokens.error().message)};
    ids.push_back(tokens->ids);
    input.tokens.push_back(std::move(tokens).value());
  }
  input.batch = batch_of(ids);
  return input;
}

/// The weights [tokens, tokens] of the chosen sentence and head, without padding.
std::vector<float> chosen_weights(const Options& options, const Batch& batch, std::span<const float> weights) {
  const std::int64_t b = options.sentence - 1;
  const std::int64_t length = batch.lengths[at(b)];
  const std::int64_t head = (b * Sizes::heads + options.head) * batch.tokens * batch.tokens;
  std::vector<float> chosen;
  for (std::int64_t i = 0; i < length; ++i) {
    const auto row = weights.begin() + head + i * batch.tokens;
    chosen.insert(chosen.end(), row, row + length);
  }
  return chosen;
}

/// Of the data folder's sentences; nothing for others.
Result<std::vector<double>> expected_embeddings(const Options& options, const Input& input) {
  if (!input.has_expected) return std::vector<double>();
  auto file = Safetensors::open(options.data / "expected.safetensors");
  if (!file) return file.error();
  return file->read<double>("embeddings", {input.batch.sentences, Sizes::model});
}

/// Prints a row an implementation; true if all are as near to the expected embeddings as they must be.
Result<bool> compare(const Options& options, const Input& input, const Implementations& implementations) {
  const auto expected = expected_embeddings(options, input);
  if (!expected) return expected.error();
  bool is_near = true;
  fmt::print("{:<20}{:>22}{:>15}{:>12}\n", "", "largest difference", "ms/sentence", "tokens/s");
  for (const auto& implementation : implementations) {
    const auto encoding = encode(*implementation, input.batch);
    if (!encoding) return encoding.error();
    const auto milliseconds = milliseconds_per_batch(*implementation, input.batch, options.seconds);
    if (!milliseconds) return milliseconds.error();
    const double difference = largest_difference(encoding->embeddings, *expected);
    if (!(difference <= largest_allowed_difference)) is_near = false;
    fmt::print("{:<20}{:>22}{:>15.3f}{:>12.0f}\n", implementation->name(), input.has_expected ? fmt::format("{:.2e}", difference) : "-",
               *milliseconds / static_cast<double>(input.batch.sentences),
               static_cast<double>(input.batch.real_tokens()) / *milliseconds * 1000);
  }
  if (input.has_expected)
    fmt::print("\nThe difference is from embeddings in double precision; up to {:.0e} is right.\n", largest_allowed_difference);
  return is_near;
}

/// The exit status, or what is wrong with the input.
Result<int> run(const Options& options) {
  if (std::error_code error; !std::filesystem::exists(options.model, error) && !error)
    return Error{fmt::format("--model: there is no file '{}'; scripts/setup installs it", options.model.string())};
  const auto model = Model::open(options.model);
  if (!model) return model.error();
  const auto input = read_input(options);
  if (!input) return input.error();
  const auto implementations = implementations_of(*model);
  if (!implementations) return implementations.error();
  Implementation& shown = *implementations->front();
  const auto encoding = encode(shown, input->batch, {.weights_of_layer = options.layer});
  if (!encoding) return encoding.error();
  fmt::print("Similarity (cosine of the embeddings), by {}:\n{}\n", shown.name(), similarity_table(input->sentences, encoding->embeddings));
  const HeatMap map{fmt::format("all-MiniLM-L6-v2, layer {}, head {}", options.layer, options.head),
                    input->tokens[at(options.sentence - 1)].texts, chosen_weights(options, input->batch, encoding->weights)};
  fmt::print(
      "Attention weights of sentence {}, layer {}, head {} (row: a token; its numbers: the weight that it gives to each token):\n{}\n",
      options.sentence, options.layer, options.head, weights_table(map.tokens, map.weights));
  if (!options.heat_map.empty()) {
    if (const auto drawn = draw(map, options.heat_map); !drawn) return drawn.error();
    fmt::print("They are drawn in {}.\n\n", options.heat_map.string());
  }
  const auto is_near = compare(options, *input, *implementations);
  if (!is_near) return is_near.error();
  return *is_near ? 0 : 1;
}

void describe(CLI::App& app, Options& options) {
  app.description("Compares sentences by meaning with the encoder of all-MiniLM-L6-v2, and shows where its attention goes.");
  app.footer(
      "Examples:\n"
      "  sentence_similarity\n"
      "  sentence_similarity --heatmap cat.png \"The cat sat on the mat because it was tired\"\n"
      "  sentence_similarity --layer 0 --head 3 --sentence 2 \"A man eats bread.\" \"Someone is having a meal.\"");
  app.add_option("sentences", options.sentences, "Sentences; without any, the four of the data folder, whose embeddings are checked");
  app.add_option("--layer", options.layer, "Layer whose attention weights are shown")
      ->check(CLI::Range(0, static_cast<int>(Sizes::layers) - 1))
      ->capture_default_str();
  app.add_option("--head", options.head, "Head whose attention weights are shown")
      ->check(CLI::Range(0, static_cast<int>(Sizes::heads) - 1))
      ->capture_default_str();
  app.add_option("--sentence", options.sentence, "Sentence whose attention weights are shown, from 1")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--heatmap", options.heat_map, "Draw the attention weights into this PNG file");
  app.add_option("--seconds", options.seconds, "Time to measure each implementation for")
      ->check(CLI::Range(0.0, 600.0))
      ->capture_default_str();
  app.add_option("--model", options.model, "model.safetensors of all-MiniLM-L6-v2, with vocab.txt beside it")->capture_default_str();
  app.add_option("--data", options.data, "Folder with sentences.txt and expected.safetensors")->capture_default_str();
}

}  // namespace
}  // namespace sentence_similarity

int main(int argc, char** argv) {
  const auto refuse = [](const std::string& problem) {  // std::fwrite, which does not throw where stderr cannot be written
    const std::string line = fmt::format("sentence_similarity: {}\n", problem);
    std::fwrite(line.data(), 1, line.size(), stderr);
    return 2;
  };
  const auto finish = [&](int status) {
    const bool is_written = std::cout.flush().good() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    return is_written ? status : refuse("standard output: cannot be written");
  };
  sentence_similarity::Options options;
  CLI::App app;
  sentence_similarity::describe(app, options);
  try {
    app.parse(argc, argv);
    const auto status = sentence_similarity::run(options);
    return status ? finish(*status) : refuse(status.error().message);
  } catch (const CLI::ParseError& error) {
    return error.get_exit_code() == 0 ? finish(app.exit(error)) : refuse(error.what());
  } catch (const std::bad_alloc&) {
    return refuse("there is not enough memory");
  } catch (const std::exception& error) {  // fmt throws where nothing more can be written
    return refuse(std::ferror(stdout) != 0 ? "standard output: cannot be written" : error.what());
  }
}
