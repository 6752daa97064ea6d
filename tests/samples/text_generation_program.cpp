#include "tests/samples/program.h"

using attune::check_refusal;
using attune::Run;
using attune::run;
using Catch::Matchers::Contains;

namespace {

const std::string program = "'" TEXT_GENERATION_PROGRAM "'";

}  // namespace

TEST_CASE("the program goes on with a text and says how fast it was", "[text_generation]") {
  const Run result = run(program, "--greedy --tokens 12 --weights packed 'The capital of France is'");
  CHECK(result.err.empty());
  CHECK(result.status == 0);
  CHECK_THAT(result.out, Catch::StartsWith("The capital of France is Paris.\n\nThe answer is: 201"));
  CHECK_THAT(result.out, Contains("Prefill: 5 tokens, ") && Contains("Decode: 11 tokens, ") && Contains("Weights: packed, 96 MB"));
}

TEST_CASE("the program converses and remembers what was said", "[text_generation]") {
  const attune::Folder folder;
  const auto lines = folder.write("lines", "My name is Bertram. Please remember it.\nWhat is my name?\n");
  const Run result = run(program, "--chat --greedy --weights packed --tokens 24 <'" + lines.string() + "'");
  CHECK(result.status == 0);
  const auto second = result.out.find('\n');
  REQUIRE(second != std::string::npos);
  CHECK_THAT(result.out.substr(second), Contains("Bertram"));
}

TEST_CASE("a conversation goes on behind a line that is no text", "[text_generation]") {
  const attune::Folder folder;
  const auto lines = folder.write("lines", "caf\xe9\r\n\r\nhello\r\n");
  const Run result = run(program, "--chat --greedy --weights packed --tokens 6 <'" + lines.string() + "'");
  CHECK(result.status == 0);
  CHECK(result.err == "text_generation: message: byte 3 is not UTF-8 there\n");
  CHECK_THAT(result.out, Contains("Decode: 5 tokens"));
}

TEST_CASE("no part of a character is written", "[text_generation]") {
  const Run result = run(program, "--greedy --weights packed --tokens 1 \"$(printf '\\360\\237\\230\\200\\360\\237\\230\\200')\"");
  CHECK_THAT(result.out, Catch::StartsWith("\xf0\x9f\x98\x80\xf0\x9f\x98\x80\n\nPrefill"));
}

TEST_CASE("nothing is computed for a reader that has gone", "[text_generation]") {
  const Run result = run("sh -c \"" TEXT_GENERATION_PROGRAM " --weights packed --tokens 1000000 x >/dev/full\"");
  CHECK(result.status == 2);
}

TEST_CASE("the same seed draws the same text", "[text_generation]") {
  const std::string words = "--temperature 1 --tokens 8 --weights packed 'Once upon a time' --seed ";
  const auto text = [&](const std::string& seed) {
    const std::string out = run(program, words + seed).out;
    return out.substr(0, out.find("Prefill"));
  };
  const std::string first = text("1");
  CHECK(text("1") == first);
  CHECK(text("2") != first);
}

TEST_CASE("wrong input of the program ends with status 2 and a sentence", "[text_generation]") {
  const attune::Folder folder;
  check_refusal(program, "", "the prompt is missing");
  check_refusal(program, "--temperature cold x", "--temperature");
  check_refusal(program, "--weights f8 x", "--weights: f8 not in {f32,bf16,packed}");
  check_refusal(program, "--speed=3", "not expected: --speed=3");
  check_refusal(program, "--threads 0 x", "--threads");
  for (const char* option : {"--temperature", "--top-p"}) check_refusal(program, std::string(option) + " NaN x", "NaN is no number");
  for (const char* seed : {"-1", "18446744073709551616", "1x"}) check_refusal(program, std::string("--seed ") + seed + " x", "is no integer from 0 to 18446744073709551615");
  check_refusal(program, "--model /none/model.gguf x", "--model: there is no file '/none/model.gguf'");
  check_refusal(program, "--model '" + folder.write("x.gguf", "GGUF").string() + "' x", "x.gguf': is cut off: a number of 4 bytes begins at byte 4");
  check_refusal(program, "--weights packed --context 4 'The capital of France is'", "context: is full: 0 tokens and 5 more are beyond its 4");
  check_refusal(program, "--weights packed \"$(printf 'b\\377d')\"", "prompt: byte 1 is not UTF-8 there");
  check_refusal(program, "--weights packed \"$(printf '<|im_start|>b\\377d')\"", "prompt: byte 13 is not UTF-8 there");
  check_refusal(program, "--chat --weights packed --system \"$(printf 'b\\377d')\" hello", "--system: byte 1 is not UTF-8 there");
  check_refusal(program, "--chat --weights packed </", "standard input: cannot be read");
  CHECK(run("sh -c \"" TEXT_GENERATION_PROGRAM " --threads 0 x 2>&-\"").status == 2);
}
