#include <catch2/catch.hpp>
#include <fstream>

#include "samples/sentence_similarity/safetensors.h"
#include "samples/sentence_similarity/wordpiece.h"
#include "samples/sentence_similarity/words.h"
#include "tests/folder.h"

using namespace sentence_similarity;
using Catch::Matchers::Contains;

namespace {

using Ids = std::vector<std::int32_t>;
using Strings = std::vector<std::string>;

const WordPiece& tokenizer() {
  static const auto opened = WordPiece::open(std::filesystem::path(SENTENCE_SIMILARITY_MODEL).parent_path() / "vocab.txt");
  return opened.value();
}

Ids ids_of(std::string_view sentence) { return tokenizer().tokens_of(sentence, 512)->ids; }

}  // namespace

TEST_CASE("the four sentences have the expected token ids", "[sentence_similarity]") {
  const std::filesystem::path data = SENTENCE_SIMILARITY_DATA;
  auto file = Safetensors::open(data / "expected.safetensors");
  REQUIRE(file);
  const auto expected = file->read<std::int32_t>("token_ids", {4, 16});
  REQUIRE(expected);
  std::ifstream sentences(data / "sentences.txt");
  std::string sentence;
  Ids got;
  while (std::getline(sentences, sentence)) {
    const Ids ids = ids_of(sentence);
    got.insert(got.end(), ids.begin(), ids.end());
    got.resize((got.size() + 15) / 16 * 16);
  }
  CHECK(got == *expected);
}

// The ids below are those that the package's own tokenizer.json gives with the PyPI package tokenizers 0.23.
TEST_CASE("text is cut as the model's own tokenizer cuts it", "[sentence_similarity]") {
  const auto [sentence, ids] = GENERATE(table<std::string, Ids>({
      {"", {101, 102}},
      {"The cat sat on the mat because it was tired", {101, 1996, 4937, 2938, 2006, 1996, 13523, 2138, 2009, 2001, 5458, 102}},
      {"Caf\u00e9 au lait, na\u00efve co\u00f6peration; \u00c5ngstr\u00f6m!",
       {101, 7668, 8740, 21110, 2102, 1010, 15743, 6792, 1025, 17076, 15687, 999, 102}},
      {"unaffable tokenization", {101, 14477, 20961, 3468, 19204, 3989, 102}},
      {"C++20 costs $3.50 (or 2^5)", {101, 1039, 1009, 1009, 2322, 5366, 1002, 1017, 1012, 2753, 1006, 2030, 1016, 1034, 1019, 1007, 102}},
      {"\u5317\u4eac is Beijing", {101, 1781, 1755, 2003, 7211, 102}},
      {"\u03a3\u038a\u03a3\u03a5\u03a6\u039f\u03a3", {101, 1173, 18199, 29733, 29735, 29736, 29730, 29733, 102}},
      {"e-mail: someone@example.org", {101, 1041, 1011, 5653, 1024, 2619, 1030, 2742, 1012, 8917, 102}},
      {"\u0130stanbul", {101, 9960, 102}},
      {"\u201cquoted\u201d \u2014 dash\u2026", {101, 1523, 9339, 1524, 1517, 11454, 1529, 102}},
      {"\ud55c\uad6d\uc5b4", {101, 1469, 30006, 30021, 29991, 30014, 30020, 29999, 30008, 102}},
  }));
  CAPTURE(sentence);
  CHECK(ids_of(sentence) == ids);
}

TEST_CASE("words are lower case without accents, and marks stand alone", "[sentence_similarity]") {
  CHECK(*words_of("") == Strings{});
  CHECK(*words_of(" \t\n\r\u00a0\u3000") == Strings{});
  CHECK(*words_of("Don't STOP!") == Strings{"don", "'", "t", "stop", "!"});
  CHECK(*words_of("Caf\u00e9 \u0130stanbul e\u0301te\u0301") == Strings{"cafe", "istanbul", "ete"});
  CHECK(*words_of("a\u200bb\u0007c\u00add") == Strings{"abcd"});
  CHECK(*words_of("a\u5317\u4eacb") == Strings{"a", "\u5317", "\u4eac", "b"});
  CHECK(*words_of("$5^\u2026\u00bf") == Strings{"$", "5", "^", "\u2026", "\u00bf"});
}

TEST_CASE("a word without pieces or with over 100 characters is unknown", "[sentence_similarity]") {
  CHECK(ids_of("\u2603") == Ids{101, 100, 102});
  CHECK(ids_of(std::string(101, 'a')) == Ids{101, 100, 102});
  CHECK(ids_of(std::string(100, 'a')).size() > 10);
  std::string accents;
  for (int i = 0; i < 100; ++i) accents += "\u00e9";
  CHECK(ids_of(accents).size() > 10);
}

TEST_CASE("tokens carry their text", "[sentence_similarity]") {
  const auto tokens = tokenizer().tokens_of("Unbelievably [SEP]", 512);
  REQUIRE(tokens);
  CHECK(tokens->texts == Strings{"[CLS]", "un", "##bel", "##ie", "##va", "##bly", "[", "sep", "]", "[SEP]"});
}

TEST_CASE("text that the model cannot take is refused", "[sentence_similarity]") {
  CHECK(tokenizer().tokens_of("ab\xff", 512).error().message == "byte 2 is 0xff, which is not UTF-8 there");
  CHECK(words_of("\xe5\x8c").error().message == "byte 0 is 0xe5, which is not UTF-8 there");
  CHECK(words_of("\xed\xa0\x80").error().message == "byte 0 is 0xed, which is not UTF-8 there");
  std::string words;
  for (int i = 0; i < 510; ++i) words += "word ";
  CHECK(tokenizer().tokens_of(words, 512)->ids.size() == 512);
  CHECK(tokenizer().tokens_of(words + "word", 512).error().message ==
        "has 513 tokens, [CLS] and [SEP] included; the model takes at most 512");
}

TEST_CASE("a vocabulary that is none is refused", "[sentence_similarity]") {
  const attune::Folder folder;
  const auto refusal = [&](std::string_view text) { return WordPiece::open(folder.write("vocab.txt", text)).error().message; };
  CHECK_THAT(refusal("[UNK]\n[CLS]\n"), Contains("has no token '[SEP]'"));
  CHECK_THAT(refusal("[UNK]\n[CLS]\n[SEP]\na\na\n"), Contains("has the token 'a' twice, the second time in line 5"));
  CHECK_THAT(WordPiece::open(folder / "none").error().message, Contains("cannot be opened"));
}
