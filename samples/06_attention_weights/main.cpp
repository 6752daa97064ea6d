// Reads the attention weights of a sentence: multi_head with weights=true gives them as a second result.
//   build/bin/06_attention_weights [SENTENCE [LAYER HEAD [PNG]]]

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "samples/sentence_similarity/heat_map.h"
#include "samples/sentence_similarity/kernels.h"
#include "samples/sentence_similarity/wordpiece.h"

namespace {

using attune::Result;
using namespace sentence_similarity;

struct Options {
  std::string sentence = "The cat sat on the mat because it was tired";
  int layer = 5, head = 11;  // where "it" gives most of its weight to the animal
  std::string picture;
};

/// The weights [tokens, tokens] of the head, from the kernel.
Result<std::vector<float>> weights_of(const Options& options, const Tokens& tokens) {
  const auto model = Model::open(SENTENCE_SIMILARITY_MODEL);
  if (!model) return model.error();
  auto kernels = Kernels::of(*model);
  if (!kernels) return kernels.error();
  const auto encoding = encode(*kernels, batch_of({&tokens.ids, 1}), {.weights_of_layer = options.layer});
  if (!encoding) return encoding.error();
  const auto head = encoding->weights.begin() + static_cast<std::ptrdiff_t>(at(options.head) * tokens.ids.size() * tokens.ids.size());
  return std::vector<float>(head, head + static_cast<std::ptrdiff_t>(tokens.ids.size() * tokens.ids.size()));
}

/// A row per word, with the three words that it gives most of its weight to.
void print_rows(const Tokens& tokens, const std::vector<float>& weights) {
  const std::size_t count = tokens.texts.size();
  for (std::size_t i = 1; i + 1 < count; ++i) {  // without [CLS] and [SEP]
    std::vector<std::size_t> order;
    for (std::size_t j = 1; j + 1 < count; ++j) order.push_back(j);
    const float* row = weights.data() + i * count;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return row[a] > row[b]; });
    fmt::print("{:>12}  looks at", tokens.texts[i]);
    for (std::size_t n = 0; n < std::min<std::size_t>(3, order.size()); ++n)
      fmt::print("  {} {:.3f}", tokens.texts[order[n]], row[order[n]]);
    fmt::print("\n");
  }
}

Result<void> run(const Options& options) {
  if (options.layer < 0 || options.layer >= Sizes::layers || options.head < 0 || options.head >= Sizes::heads)
    return attune::Error{fmt::format("06_attention_weights: there is no layer {} with head {}; expected 0 to {} and 0 to {}", options.layer,
                                     options.head, Sizes::layers - 1, Sizes::heads - 1)};
  const auto tokenizer = WordPiece::open(std::filesystem::path(SENTENCE_SIMILARITY_MODEL).parent_path() / "vocab.txt");
  if (!tokenizer) return tokenizer.error();
  const auto tokens = tokenizer->tokens_of(options.sentence, Sizes::positions);
  if (!tokens) return tokens.error();
  const auto weights = weights_of(options, *tokens);
  if (!weights) return weights.error();
  fmt::print("all-MiniLM-L6-v2, layer {}, head {}:\n", options.layer, options.head);
  print_rows(*tokens, *weights);
  if (options.picture.empty()) return {};
  return draw({options.sentence, tokens->texts, *weights}, options.picture);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (argc > 1) options.sentence = argv[1];
  if (argc > 3) options.layer = std::atoi(argv[2]);
  if (argc > 3) options.head = std::atoi(argv[3]);
  if (argc > 4) options.picture = argv[4];
  if (const auto done = run(options); !done) {
    fmt::print(stderr, "{}\n", done.error().message);
    return 1;
  }
}
