#include <catch2/catch.hpp>

#include <algorithm>
#include <iterator>
#include <regex>
#include <sstream>

#include "tests/tools/causal_files.h"
#include "tests/tools/headers.h"

namespace attune {
namespace {

const Words commands = {"list", "show", "compile", "run", "check", "bench", "explain", "tune", "conformance", "import"};

/// The lines of a help text that begin with "  attune ", as words.
std::vector<Words> examples_of(const std::string& help) {
  std::vector<Words> examples;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  attune ") || line.find("COMMAND") != std::string::npos) continue;
    std::istringstream stream(line.substr(9));
    examples.emplace_back(std::istream_iterator<std::string>(stream), std::istream_iterator<std::string>());
  }
  return examples;
}

}  // namespace

TEST_CASE("every help text ends with examples", "[command line]") {
  std::vector<Words> all{{}};
  for (const std::string& command : commands) all.push_back({command});
  for (Words words : all) {
    words.emplace_back("--help");
    const std::string help = attune_says(words);
    INFO(help);
    const std::size_t last = help.find_last_not_of('\n'), line = help.rfind('\n', last) + 1;
    CHECK(help.substr(line).starts_with("  attune "));
    CHECK_THAT(help, Catch::Contains("\nExamples:\n") && !Catch::Contains("Usage: /"));
  }
}

TEST_CASE("the examples of the help texts run", "[command line]") {
  const CausalFiles files(stored_as<float>, 64);
  const Folder& folder = files.folder;
  std::string header(good_header);
  for (std::size_t at = 0; (at = header.find("Reach", at)) != std::string::npos; at += 11) header.replace(at, 5, "MyAttention");
  folder.write("my_attention.h", header);
  folder.write("tokens.txt", "the\ncat\nsat\non\nit\n");
  folder.write("key_tokens.txt", "a\nred\nmat\nwas\nunder\nthe\ncat\n");
  std::filesystem::create_directories(folder / "cases");
  std::filesystem::copy(ATTUNE_SOURCE "/tests/onnx/data/attention_4d", folder / "cases/attention_4d", std::filesystem::copy_options::recursive);
  std::filesystem::copy(ATTUNE_SOURCE "/tests/onnx/models/attention.onnx", folder / "model.onnx");
  int count = 0;
  for (const std::string& command : commands)
    for (const Words& example : examples_of(attune_says({command, "--help"}))) {
      std::string line = "cd '" + (folder / ".").string() + "' && '" ATTUNE_PROGRAM "'";
      // half a minute: it is what 'a run for defaults writes one of every schedule and size' runs
      if (std::ranges::find(example, "--defaults") != example.end()) continue;
      // a tuning run need not find anything to write
      if (command == "tune" && example[0] != "tune" && !std::filesystem::exists(folder / "my.json")) continue;
      // the shapes of bench and tune are long sequences: their figures are not looked at here
      for (const std::string& word : example)
        line += " '" + std::regex_replace(word, std::regex(command == "bench" || command == "tune" ? "=4096" : "^$"), "=64") + "'";
      if (example[0] == "tune") line += " --tries 1";
      // one code of each stage says as much of the words as those for calls of every size
      if (example[0] == "compile") line += " --size tiny";
      const Ran ran = run_program({"sh", "-c", line});
      INFO(line << "\n" << ran.err);
      CHECK(ran.status == 0);
      ++count;
    }
  CHECK(count >= 15);
}

}  // namespace attune
