#include "samples/sentence_similarity/wordpiece.h"

#include <fmt/format.h>

#include <fstream>
#include <optional>

#include "samples/sentence_similarity/words.h"

namespace sentence_similarity {
namespace {

using attune::Error;
using attune::Result;

constexpr int longest_word = 100;  // characters; BERT's tokenizer gives up on longer ones

/// Where each character of the word begins, and the word's end.
std::vector<std::size_t> boundaries_of(std::string_view word) {
  std::vector<std::size_t> places = {0};
  while (places.back() < word.size()) places.push_back(places.back() + character_bytes(word.substr(places.back())));
  return places;
}

}  // namespace

Result<WordPiece> WordPiece::open(const std::filesystem::path& vocabulary) {
  const auto error = [&](std::string what) { return Error{fmt::format("vocabulary '{}': {}", vocabulary.string(), what)}; };
  std::ifstream file(vocabulary);
  if (!file) return error("cannot be opened");
  WordPiece result;
  for (std::string line; std::getline(file, line);) {
    const auto id = static_cast<std::int32_t>(result.texts_.size());
    if (!result.ids_.emplace(line, id).second)
      return error(fmt::format("has the token '{}' twice, the second time in line {}", line, id + 1));
    result.texts_.push_back(std::move(line));
  }
  for (const auto& [name, id] : {std::pair{"[UNK]", &result.unknown_}, {"[CLS]", &result.begin_}, {"[SEP]", &result.end_}}) {
    const auto found = result.ids_.find(name);
    if (found == result.ids_.end()) return error(fmt::format("has no token '{}'", name));
    *id = found->second;
  }
  return result;
}

Result<Tokens> WordPiece::tokens_of(std::string_view sentence, std::int64_t limit) const {
  const auto words = words_of(sentence);
  if (!words) return words.error();
  Tokens tokens;
  append(tokens, begin_);
  for (const std::string& word : *words) append_pieces(tokens, word);
  append(tokens, end_);
  if (static_cast<std::int64_t>(tokens.ids.size()) > limit)
    return Error{fmt::format("has {} tokens, [CLS] and [SEP] included; the model takes at most {}", tokens.ids.size(), limit)};
  return tokens;
}

void WordPiece::append_pieces(Tokens& tokens, std::string_view word) const {
  const std::vector<std::size_t> places = boundaries_of(word);
  const std::size_t characters = places.size() - 1;
  if (characters > longest_word) return append(tokens, unknown_);
  std::vector<std::int32_t> pieces;
  for (std::size_t begin = 0, end = characters; begin < characters; end = characters) {
    std::optional<std::int32_t> piece;
    for (; end > begin; --end) {
      const std::string_view text = word.substr(places[begin], places[end] - places[begin]);
      const auto found = ids_.find(begin == 0 ? std::string(text) : "##" + std::string(text));
      if (found == ids_.end()) continue;
      piece = found->second;
      break;
    }
    if (!piece) return append(tokens, unknown_);
    pieces.push_back(*piece);
    begin = end;
  }
  for (std::int32_t piece : pieces) append(tokens, piece);
}

void WordPiece::append(Tokens& tokens, std::int32_t id) const {
  tokens.ids.push_back(id);
  tokens.texts.push_back(texts_[static_cast<std::size_t>(id)]);
}

}  // namespace sentence_similarity
