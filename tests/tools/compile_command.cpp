/// What `attune compile` writes.
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/tools/headers.h"
#include "tests/tools/program.h"

namespace attune {

using nlohmann::json;

TEST_CASE("compile writes the same files in every process and by any number of jobs, of every kind of stage", "[command line]") {
  // attention for calls of every size and for two targets, products, a softmax of stored weights, elementwise stages, stored scores, a second result
  for (const Words& words : {Words{"causal", "--target", "x86-64-v3,x86-64-v4", "--set", "depth=8,value_depth=8", "--shared"},
                             Words{"multi_head", "--param", "weights=true", "--type", "bf16", "--size", "large"},
                             Words{"merge_partials", "--size", "large"}, Words{"causal", "--schedule", "unfused", "--size", "large"},
                             Words{"additive", "--size", "large"},
                             Words{"scaled_dot_product", "--param", "lse=true", "--target", "opencl"}}) {
    CAPTURE(words);
    const Folder first, second;
    std::string said;
    for (const auto& [folder, jobs] : {std::pair(&first, "1"), std::pair(&second, "3")}) {
      Words all{"compile", "--name", "mine", "--jobs", jobs, "-o", *folder / "."};
      all.insert(all.end(), words.begin(), words.end());
      said = attune_says(all);
    }
    const bool is_shared = words.back() == "--shared";
    CHECK(first.size() == (is_shared ? 5 : 4));
    for (const auto& file : std::filesystem::directory_iterator(first / ".")) {
      const std::string name = file.path().filename();
      INFO(name);
      CHECK_THAT(said, Catch::Contains(name + "\n"));
      CHECK(!contents(file.path()).empty());
      CHECK(contents(file.path()) == contents(second / name.c_str()));
    }
    const json manifest = json::parse(contents(first / "mine.json"));
    CHECK(manifest["name"] == "mine");
    CHECK(manifest["variant"] == words[0]);
  }
}

TEST_CASE("compile writes a kernel whose calls all take the schedules for one size", "[command line]") {
  const Folder folder;
  for (const char* size : {"large", "small", "few", "tiny"}) {
    attune_says({"compile", "causal", "--target", "x86-64-v3", "--set", "depth=5", "--size", size, "-o", folder / "."});
    const json steps = json::parse(contents(folder / "causal.json"))["steps"];
    REQUIRE(steps.size() == 1);
    const json& codes = steps[0]["codes"];
    REQUIRE(codes.size() == 1);
    CHECK(codes[0]["schedule"].get<std::string>().starts_with(std::string(size) + ": "));
  }
}

TEST_CASE("a kernel's C header compiles as C and as C++", "[command line]") {
  const Folder folder;
  attune_says({"compile", "sliding_window", "--param", "window=3", "--target", "x86-64-v3", "--size", "tiny", "--name", "near", "-o", folder / "."});
  const std::string include = "-I" + (folder / ".").string(), source = ATTUNE_SOURCE, halide = ATTUNE_HALIDE_INCLUDE;
  const std::string c = folder.write("use.c", "#include \"near.h\"\n"), cpp = folder.write("use.cpp", "#include \"near.hpp\"\n");
  CHECK(run_program({"cc", "-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", include, "-I" + source, c}).err == "");
  CHECK(run_program({"c++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", include, "-I" + source, "-isystem", halide, cpp}).err ==
        "");
}

TEST_CASE("codes of stages that a folder holds are taken, and others put there", "[command line]") {
  const Folder folder;
  const std::filesystem::path codes = folder / "codes";
  std::filesystem::create_directory(codes);
  const auto compile = [&](const char* schedule) {
    return run_attune({"compile", "multi_head", "--target", "x86-64-v3", "--size", "large", "--codes", codes, "--schedule", schedule,
                       "-o", folder / schedule});
  };
  const auto count = [&] { return std::distance(std::filesystem::directory_iterator(codes), {}); };
  CHECK(compile("gemm").status == 0);
  const auto first = count();
  CHECK(compile("gemm").status == 0);
  CHECK(count() == first);
  CHECK(compile("gemm,row_tile=4").status == 0);
  const auto added = count() - first;
  CHECK((added > 0 && added < first));
  for (const auto& code : std::filesystem::directory_iterator(codes)) std::ofstream(code.path()) << "no code";
  const Ran ran = compile("gemm");
  CHECK(ran.status == 2);
  CHECK_THAT(ran.err, Catch::Contains("multi_head.o': cannot be written: 'ld' failed"));
  CHECK(run_attune({"compile", "causal", "--codes", folder / "none"}).err ==
        "attune: --codes '" + std::string(folder / "none") + "': is not a folder\n");
}

TEST_CASE("nothing stays of a compilation that is refused", "[command line]") {
  const Folder folder;
  for (const Words& words : {Words{"--schedule", "online_softmax,query_tile=5"}, Words{"--set", "nope=3"}, Words{"--type", "f8"}}) {
    Words all{"compile", "causal", "--shared", "-o", folder / "a/b"};
    all.insert(all.end(), words.begin(), words.end());
    CHECK(run_attune(all).status == 2);
    CHECK(folder.size() == 0);
  }
  // a folder stands where a header should be
  std::filesystem::create_directory(folder / "causal.h");
  const Ran ran = run_attune({"compile", "causal", "-o", folder / "."});
  CHECK(ran.status == 2);
  CHECK_THAT(ran.err, Catch::Contains("causal.h': cannot be written: Is a directory"));
  CHECK(folder.size() == 1);
}

TEST_CASE("a kernel is not written over the header that it is compiled from", "[command line]") {
  const Folder folder;
  const std::string header = folder.write("reach.h", good_header);
  const Ran ran = run_attune({"compile", header, "--struct", "Reach", "-o", folder / "."});
  CHECK(ran.status == 2);
  CHECK_THAT(ran.err, Catch::Contains("reach.h': would be written over the header that it is compiled from; -o names another folder"));
  CHECK(contents(header) == good_header);
}

}  // namespace attune
