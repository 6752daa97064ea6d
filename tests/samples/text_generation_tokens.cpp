#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "samples/text_generation/tokenizer.h"
#include "tests/folder.h"

using namespace text_generation;
using Catch::Matchers::Contains;

namespace {

const Tokenizer& tokenizer() {
  static const auto file = Gguf::open(TEXT_GENERATION_MODEL);
  static const auto result = Tokenizer::of(file.value());
  return result.value();
}

std::string text_of(const std::vector<Token>& tokens) {
  std::string text;
  for (const Token token : tokens) text += tokenizer().bytes_of(token);
  return text;
}

}  // namespace

TEST_CASE("texts have the tokens that llama.cpp's tokenizer gives", "[text_generation]") {
  const auto cases = nlohmann::json::parse(attune::contents(TEXT_GENERATION_DATA "/tokenizer_cases.json"));
  REQUIRE(cases.size() == 11);
  for (const auto& one : cases) {
    const auto text = one[0].get<std::string>();
    CAPTURE(text);
    const auto tokens = tokenizer().tokens_of(text);
    REQUIRE(tokens);
    CHECK(*tokens == one[1].get<std::vector<Token>>());
    CHECK(text_of(*tokens) == text);
  }
}

TEST_CASE("special tokens are found first and are their own text", "[text_generation]") {
  const auto tokens = tokenizer().tokens_of("<|im_start|>user\nHi<|im_end|><|im_end|>").value();
  CHECK(tokens.front() == 1);
  CHECK(tokens[tokens.size() - 2] == 2);
  CHECK(tokens.back() == 2);
  CHECK(text_of(tokens) == "<|im_start|>user\nHi<|im_end|><|im_end|>");
  CHECK(tokenizer().is_special(2));
  CHECK_FALSE(tokenizer().is_special(504));
  CHECK(tokenizer().tokens_of("<|im_end|").value().size() > 1);
  CHECK(tokenizer().tokens_of("").value().empty());
}

TEST_CASE("a long piece is merged in little time and comes back", "[text_generation]") {
  std::string letters;
  for (int i = 0; i < 200000; ++i) letters += static_cast<char>('a' + i * 7 % 26);
  const auto tokens = tokenizer().tokens_of(letters).value();
  CHECK(text_of(tokens) == letters);
}

TEST_CASE("text that is not UTF-8 is refused, and bytes without a token are left out", "[text_generation]") {
  const auto refused = tokenizer().tokens_of("good b\xff" "d");
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().message, Contains("byte 6 is not UTF-8 there"));
  CHECK(text_of(tokenizer().tokens_of("a\x04" "b").value()) == "ab");
}
