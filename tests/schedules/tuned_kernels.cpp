#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "tests/tools/program.h"

namespace attune {
namespace {

/// A tuned file for x86-64-v3 with a record for the only stage of `causal`, whose key `attune explain --json` prints.
std::string tuned_file() {
  using nlohmann::json;
  const json stage = json::parse(attune_says({"explain", "causal", "--target", "x86-64-v3", "--json"}))["stages"][0];
  const json measured = {{"shape", "keys=1"}, {"threads", 1},   {"default_ms", 1},     {"tuned_ms", 1},
                         {"cpu", "none"},     {"version", "0"}, {"date", "2025-01-31"}};
  const json parameters = {{"query_tile", 24}, {"key_tile", 128}, {"middle_tile", 64}, {"edge_tile", 32}, {"register_rows", 4},
                           {"register_vectors", 2}, {"copy_values", 0}, {"prefetch", 1}};
  const json record = {{"schedule", "online_softmax"}, {"size", "large"},         {"stage", stage["key"]},  {"types", stage["types"]},
                       {"extents", json::object()},    {"parameters", parameters}, {"measured", measured}};
  const json root = {{"target", "x86-64-v3"}, {"defaults", json::array()}, {"stages", {{stage["key"], stage["body"]}}}, {"tuned", {record}}};
  return root.dump();
}

}  // namespace

TEST_CASE("a tuned file chooses the schedule, and the same file gives the same kernel in two processes", "[tuned]") {
  const Folder folder;
  const std::string tuned = folder.write("tuned.json", tuned_file());
  const std::string text = attune_says({"explain", "causal", "--target", "x86-64-v3", "--tuned", tuned});
  const std::string parameters = "query_tile=24, key_tile=128, middle_tile=64, edge_tile=32, register_rows=4, register_vectors=2, copy_values=0, prefetch=1";
  CHECK(text.find(parameters + " (tuned: exact, " + tuned + ")") != std::string::npos);
  CHECK(text.find("(default, x86-64-v3.json)") != std::string::npos);

  std::vector<std::string> objects;
  for (const char* name : {"first", "second"}) {
    std::filesystem::create_directory(folder / name);
    attune_says({"compile", "causal", "--target", "x86-64-v3", "--size", "large", "--tuned", tuned, "-o", folder / name});
    objects.push_back(contents(folder / name / "causal.o"));
  }
  CHECK(!objects[0].empty());
  CHECK(objects[0] == objects[1]);
  std::filesystem::create_directory(folder / "untuned");
  attune_says({"compile", "causal", "--target", "x86-64-v3", "--size", "large", "-o", folder / "untuned"});
  CHECK(objects[0] != contents(folder / "untuned" / "causal.o"));
}

TEST_CASE("a tuned file of a target that the kernel is not for is refused", "[tuned]") {
  const Folder folder;
  const std::string tuned = folder.write("tuned.json", tuned_file());
  for (const char* command : {"compile", "explain"}) {
    const Ran ran = run_attune({command, "causal", "--target", "x86-64-v4", "--tuned", tuned});
    CHECK(ran.status == 2);
    CHECK(ran.err == "attune: tuned file '" + tuned + "': is for target 'x86-64-v3'; the kernel is for x86-64-v4\n");
  }
  attune_says(
      {"compile", "causal", "--set", "queries=64,keys=64,depth=16", "--target", "x86-64-v4,x86-64-v3", "--tuned", tuned, "-o", folder / "both"});
}

TEST_CASE("a tuned file that is wrong is refused before anything is compiled", "[tuned]") {
  const Folder folder;
  const std::string wrong = folder.write("wrong.json", R"({"target": "x86-64-v3", "defaults": [], "stages": {}})");
  const Ran ran = run_attune({"compile", "causal", "--tuned", wrong});
  CHECK(ran.status == 2);
  CHECK(ran.err == "attune: tuned file '" + wrong + "': has no field 'tuned'\n");
  CHECK(run_attune({"explain", "causal", "--tuned", folder / "none.json"}).err ==
        "attune: tuned file '" + (folder / "none.json").string() + "': cannot be read: No such file or directory; attune tune writes such files\n");
}

}  // namespace attune
