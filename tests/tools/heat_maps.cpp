#include <catch2/catch.hpp>

#include <algorithm>

#include "tests/tools/program.h"
#include "tools/npy.h"

namespace attune {
namespace {

/// q, k and v of a call of two heads, and files of labels.
struct HeatCall {
  Folder folder;
  Words inputs;

  HeatCall(std::int64_t queries, std::int64_t keys) {
    for (const auto& [name, positions] : {std::pair{"q", queries}, std::pair{"k", keys}, std::pair{"v", keys}}) {
      std::vector<float> elements(static_cast<std::size_t>(2 * positions * 4));
      for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<float>(i * 37 % 65) / 32 - 1;
      const std::string file = folder / (std::string(name) + ".npy").c_str();
      REQUIRE(write_npy(file, NpyArray::of<float>({1, 2, positions, 4}, elements)));
      inputs.insert(inputs.end(), {"--in", std::string(name) + "=" + file});
    }
    folder.write("three.txt", "the\ncat\r\nsat\n");
    folder.write("five.txt", "on\nthe\nm\xc3\xa4t\n\nagain");
    folder.write("wrong.txt", "on\n\xff\n");
    folder.write("empty.txt", "");
  }
  std::string file(const char* name) const { return (folder / name).string(); }

  Ran run(const std::string& variant, const Words& more) const {
    Words words{"run", variant};
    words.insert(words.end(), inputs.begin(), inputs.end());
    words.insert(words.end(), more.begin(), more.end());
    return run_attune(words);
  }
  bool is_drawn(const char* name) const { return contents(folder / name).starts_with("\x89PNG"); }
};

}  // namespace

TEST_CASE("run draws the weights of any variant with a softmax", "[command line]") {
  const HeatCall call(3, 5);
  const Ran computed = call.run("causal_offset", {"--interpret", "--heatmap", call.file("weights.png"), "--labels", call.file("three.txt"),
                                                  "--key-labels", call.file("five.txt")});
  INFO(computed.err);
  CHECK(computed.status == 0);
  CHECK(call.is_drawn("weights.png"));
  // A kernel's own output of weights is the same picture, but for what is written above it and the last digits of weights.
  const Ran output = call.run("scaled_dot_product", {"--param", "weights=true", "--heatmap", call.file("output.png"), "--at", "heads=1,batch=0"});
  INFO(output.err);
  CHECK(output.status == 0);
  CHECK(call.is_drawn("output.png"));
  CHECK(call.run("scaled_dot_product",
                 {"--param", "weights=true", "--interpret", "--heatmap", "weights=" + call.file("interpreted.png"), "--at", "heads=1,batch=0"})
            .status == 0);
  CHECK((contents(call.folder / "output.png") == contents(call.folder / "interpreted.png")));
}

TEST_CASE("what is wrong with a heat map is said in words", "[command line]") {
  const HeatCall call(3, 5);
  const std::string picture = call.file("weights.png"), five = call.file("five.txt");
  for (const auto& [words, sentence] : std::vector<std::pair<Words, std::string>>{
           {{"--labels", five}, "--labels: is for the heat map; --heatmap FILE.png draws it"},
           {{"--heatmap", picture, "--labels", five}, "--labels '" + five + "': has 5 labels; there are 3 queries"},
           {{"--heatmap", picture, "--key-labels", call.file("three.txt")},
            "--key-labels '" + call.file("three.txt") + "': has 3 labels; there are 5 keys"},
           {{"--heatmap", picture, "--labels", call.file("none.txt")},
            "--labels '" + call.file("none.txt") + "': cannot be read: No such file or directory"},
           {{"--heatmap", picture, "--labels", "/dev/zero"}, "--labels '/dev/zero': has more than 256 MiB"},
           {{"--heatmap", picture, "--labels", call.file("")}, "--labels '" + call.file("") + "': cannot be read: Is a directory"},
           {{"--heatmap", picture, "--labels", call.file("wrong.txt")},
            "--labels '" + call.file("wrong.txt") + "': line 2 is no text in UTF-8; each line is a label"},
           {{"--heatmap", picture, "--labels", call.file("empty.txt")}, "--labels '" + call.file("empty.txt") + "': has no labels; each line is one"},
           {{"--heatmap", "=x.png"}, "--heatmap '=x.png': is neither FILE.png nor OUTPUT=FILE.png"},
           {{"--heatmap", "weights=" + picture}, "--heatmap 'weights=" + picture + "': the graph has no such output"},
           {{"--heatmap", picture, "--at", "heads=2"}, "--at heads=2: there are 2 positions; 0 to 1 are right"},
           {{"--heatmap", picture, "--at", "keys=0"},
            "--at keys=0: the weights have no dim 'keys' beside rows and columns; they are [batch x heads x queries x keys]"},
           {{"--heatmap", "/dev/null/x.png"}, "--heatmap '/dev/null/x.png': cannot be written: Not a directory"}}) {
    Words all{"--interpret"};
    all.insert(all.end(), words.begin(), words.end());
    const Ran ran = call.run("causal", all);
    CHECK(ran.status == 2);
    CHECK(ran.err == "attune: " + sentence + "\n");
  }
  CHECK_FALSE(std::filesystem::exists(picture));
}

}  // namespace attune
