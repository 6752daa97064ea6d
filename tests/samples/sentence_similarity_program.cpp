#include <sstream>

#include "tests/samples/program.h"

using attune::check_refusal;
using attune::contents;
using attune::Run;
using attune::run;
using Catch::Matchers::Contains;

namespace {

const std::string program = "'" SENTENCE_SIMILARITY_PROGRAM "' --seconds 0";

/// That the program refuses the words before it prints anything.
void check_silent_refusal(const std::string& words, const std::string& sentence) { CHECK(check_refusal(program, words, sentence).out.empty()); }

}  // namespace

TEST_CASE("the program compares the four sentences and finds the expected embeddings", "[sentence_similarity]") {
  const Run result = run(program, "");
  CHECK(result.err.empty());
  CHECK(result.status == 0);
  CHECK_THAT(result.out, Contains(" 3  A man is eating a piece of bread.                            -0.0303  0.0461  1.0000 -0.0610\n"));
  CHECK_THAT(result.out, Contains("plain C++ loops"));
}

TEST_CASE("the program shows the attention weights of a sentence of one's own", "[sentence_similarity]") {
  const attune::Folder folder;
  const Run result = run(program, "--heatmap '" + (folder / "cat.png").string() + "' 'The cat sat on the mat because it was tired'");
  CHECK(result.status == 0);
  CHECK_THAT(result.out, Contains("        [CLS]   the   cat   sat    on   the   mat because    it   was tired [SEP]\n"));
  CHECK_THAT(result.out, Contains("\nit      0.105 0.010 0.683 "));
  CHECK_THAT(contents(folder / "cat.png"), Catch::StartsWith("\x89PNG"));
}

TEST_CASE("similar sentences are more similar than others", "[sentence_similarity]") {
  const Run result = run(program, "'A man is eating bread.' 'Someone has a meal of bread.' 'The stock market fell sharply.'");
  REQUIRE(result.status == 0);
  const auto row = result.out.substr(result.out.find(" 1  A man"));
  std::istringstream numbers(row.substr(row.find('.') + 1));
  double self = 0, similar = 0, other = 0;
  numbers >> self >> similar >> other;
  CHECK(self == 1);
  CHECK(similar > 0.5);
  CHECK(other < 0.2);
}

TEST_CASE("wrong input ends with status 2 and a sentence", "[sentence_similarity]") {
  check_silent_refusal("--layer 6", "--layer: Value 6 not in range 0 to 5");
  check_silent_refusal("--head twelve", "--head: Value twelve not in range 0 to 11");
  check_silent_refusal("--sentence 5", "--sentence: 5 is not one of the sentences; expected 1 to 4");
  check_silent_refusal("--speed 3", "not expected: --speed");
  check_silent_refusal("--model /none/model.safetensors", "--model: there is no file '/none/model.safetensors'");
  check_silent_refusal("--data /none", "file '/none/sentences.txt': cannot be opened");
  check_silent_refusal("good \"$(printf 'b\\377d')\"", "sentence 2: byte 1 is 0xff, which is not UTF-8 there");
  check_silent_refusal("\"$(yes word | head -n 511)\"", "sentence 1: has 513 tokens");
}

TEST_CASE("a heat map that cannot be written ends with status 2", "[sentence_similarity]") {
  const Run result = run(program, "--heatmap /none/x.png");
  CHECK(result.status == 2);
  CHECK_THAT(result.err, Contains("heat map '/none/x.png': cannot be written"));
}

TEST_CASE("a heat map is drawn where a link leads, and into devices", "[sentence_similarity]") {
  const attune::Folder folder;
  std::filesystem::create_symlink("target.png", folder / "link.png");
  folder.write("target.png", "old");
  CHECK(run(program, "--heatmap '" + (folder / "link.png").string() + "' 'A cat'").status == 0);
  CHECK(std::filesystem::is_symlink(folder / "link.png"));
  CHECK_THAT(contents(folder / "target.png"), Catch::StartsWith("\x89PNG"));
  CHECK(run(program, "--heatmap /dev/null 'A cat'").status == 0);
  CHECK(std::filesystem::is_character_file("/dev/null"));
  CHECK(folder.size() == 2);
}

TEST_CASE("an output that is full or closed ends with status 2", "[sentence_similarity]") {
  for (const char* to : {">/dev/full", ">&-"})
    for (const char* words : {"", "--help"}) {
      const int status = std::system((program + " " + words + " " + to + " 2>/dev/null").c_str());
      CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 2));
    }
}

TEST_CASE("embeddings that differ from the expected ones end with status 1", "[sentence_similarity]") {
  const attune::Folder folder;
  const std::filesystem::path data = SENTENCE_SIMILARITY_DATA;
  std::string lines = contents(data / "sentences.txt");
  folder.write("sentences.txt", lines.replace(0, 3, "One"));
  std::filesystem::copy_file(data / "expected.safetensors", folder / "expected.safetensors");
  CHECK(run(program, "--data '" + (folder / "").string() + "'").status == 1);
}
