#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <algorithm>
#include <cstdlib>

#include "tests/folder.h"

using attune::contents;
using Catch::Matchers::Contains;

namespace {

struct Run {
  int status;
  std::string out, err;
};

/// Runs the program with these words of a shell.
Run run(const std::string& words) {
  const attune::Folder folder;
  const std::string command =
      "'" TEXT_GENERATION_PROGRAM "' " + words + " >'" + (folder / "out").string() + "' 2>'" + (folder / "err").string() + "'";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(folder / "out"), contents(folder / "err")};
}

/// One sentence on stderr.
void check_refusal(const std::string& words, const std::string& sentence) {
  CAPTURE(words);
  const Run result = run(words);
  CHECK(result.status == 2);
  CHECK_THAT(result.err, Contains(sentence));
  CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
}

}  // namespace

TEST_CASE("the program goes on with a text and says how fast it was", "[text_generation]") {
  const Run result = run("--greedy --tokens 12 --weights packed 'The capital of France is'");
  CHECK(result.err.empty());
  CHECK(result.status == 0);
  CHECK_THAT(result.out, Catch::StartsWith("The capital of France is Paris.\n\nThe answer is: 201"));
  CHECK_THAT(result.out, Contains("Prefill: 5 tokens, ") && Contains("Decode: 11 tokens, ") && Contains("Weights: packed, 96 MB"));
}

TEST_CASE("the program converses and remembers what was said", "[text_generation]") {
  const attune::Folder folder;
  const auto lines = folder.write("lines", "My name is Bertram. Please remember it.\nWhat is my name?\n");
  const Run result = run("--chat --greedy --weights packed --tokens 24 <'" + lines.string() + "'");
  CHECK(result.status == 0);
  const auto second = result.out.find('\n');
  REQUIRE(second != std::string::npos);
  CHECK_THAT(result.out.substr(second), Contains("Bertram"));
}

TEST_CASE("the same seed draws the same text", "[text_generation]") {
  const std::string words = "--temperature 1 --tokens 8 --weights packed 'Once upon a time' --seed ";
  const auto text = [&](const std::string& seed) {
    const std::string out = run(words + seed).out;
    return out.substr(0, out.find("Prefill"));
  };
  const std::string first = text("1");
  CHECK(text("1") == first);
  CHECK(text("2") != first);
}

TEST_CASE("wrong input of the program ends with status 2 and a sentence", "[text_generation]") {
  const attune::Folder folder;
  check_refusal("", "the prompt is missing");
  check_refusal("--temperature cold x", "--temperature");
  check_refusal("--weights f8 x", "--weights: f8 not in {f32,bf16,packed}");
  check_refusal("--speed=3", "not expected: --speed=3");
  check_refusal("--threads 0 x", "--threads");
  check_refusal("--model /none/model.gguf x", "--model: there is no file '/none/model.gguf'");
  check_refusal("--model '" + folder.write("x.gguf", "GGUF").string() + "' x", "x.gguf': is cut off: a number of 4 bytes begins at byte 4");
  check_refusal("--weights packed --context 4 'The capital of France is'", "context: is full: 0 tokens and 5 more are beyond its 4");
  check_refusal("--weights packed \"$(printf 'b\\377d')\"", "prompt: byte 1 is not UTF-8 there");
}
