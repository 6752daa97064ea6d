// Inputs from files in place of random ones, where kernels are measured: attune bench, tune and explain with --in.
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "tests/tools/program.h"
#include "tools/npy.h"

namespace attune {
namespace {

const char* const shape = "batch=1,heads=1,queries=512,depth=16";

/// A file of ids for 512 tokens in documents of `length`.
std::string ids_file(const Folder& folder, std::int64_t length) {
  std::vector<std::int64_t> ids;
  for (std::int64_t token = 0; token < 512; ++token) ids.push_back(token / length);
  const std::string path = folder / ("ids" + std::to_string(length) + ".npy").c_str();
  REQUIRE(write_npy(path, NpyArray::of<std::int64_t>({1, 512}, ids)));
  return path;
}

std::string problem_of(const char* command, const std::string& in) {
  const Ran ran = run_attune({command, "document", "--shape", shape, "--in", in});
  CHECK(ran.status == 2);
  CHECK(ran.out.empty());
  return ran.err;
}

}  // namespace

TEST_CASE("bench calls with the ids of a file", "[command line]") {
  const Folder folder;
  const auto visited = [&](std::int64_t length) {
    const auto json = nlohmann::json::parse(
        attune_says({"bench", "document", "--json", "--threads", "1", "--shape", shape, "--in", "ids=" + ids_file(folder, length)}));
    CHECK(json["gflops"].get<double>() * json["milliseconds_min"].get<double>() * 1e6 == Approx(2.0 * 2 * 16 * 512 * static_cast<double>(length)));
    return json["visited_blocks"].get<double>() / json["all_blocks"].get<double>();
  };
  CHECK(visited(512) == 1);
  CHECK(visited(64) < 0.6);
}

TEST_CASE("explain counts what the ids of a file let through", "[command line]") {
  const Folder folder;
  const auto explain = [&](std::int64_t length) {
    return nlohmann::json::parse(attune_says({"explain", "document", "--json", "--shape", shape, "--in", "ids=" + ids_file(folder, length)}))["call"];
  };
  CHECK(explain(64)["pairs"][0]["visible"] == 512 * 64);
  CHECK(explain(512)["pairs"][0]["visible"] == 512 * 512);
  CHECK(explain(64)["visited_blocks"] < explain(512)["visited_blocks"]);
  const Ran ran = run_attune({"explain", "document", "--in", "ids=" + ids_file(folder, 64)});
  CHECK(ran.status == 2);
  CHECK(ran.err == "attune: --in: explain looks at inputs of a call; --shape says its extents\n");
}

TEST_CASE("tune measures calls with the ids of a file", "[tuning]") {
  const Folder folder;
  const std::string out = folder / "tuned.json";
  const Ran ran = run_attune({"tune", "document", "--shape", shape, "--threads", "1", "--budget", "250s", "--tries", "1", "--in",
                              "ids=" + ids_file(folder, 128), "--out", out, "--json"});
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  CHECK(nlohmann::json::parse(ran.out)["stages"][0]["failed"] == 0);
  CHECK(nlohmann::json::parse(ran.out)["stages"][0]["tried"] == 1);
}

TEST_CASE("tune takes a file for each shape, in their order", "[tuning]") {
  const Folder folder;
  const auto save = [&](const char* name, std::int64_t tokens) {
    REQUIRE(write_npy(folder / name, NpyArray::of<std::int64_t>({1, tokens}, std::vector<std::int64_t>(static_cast<std::size_t>(tokens)))));
    return "ids=" + std::string(folder / name);
  };
  const std::string long_ids = save("long.npy", 300), short_ids = save("short.npy", 200);
  const auto said = [&](const Words& files) {
    // What follows the inputs is refused, too, so that nothing is measured here.
    Words words{"tune",     "document",
                "--budget", "1e-3s",
                "--out",    folder / "tuned.json",
                "--shape",  "batch=1,heads=1,queries=300,depth=16",
                "--shape",  "batch=1,heads=1,queries=200,depth=16"};
    for (const std::string& file : files) words.insert(words.end(), {"--in", file});
    const Ran ran = run_attune(words);
    CHECK(ran.status == 2);
    return ran.err;
  };
  CHECK_THAT(said({long_ids, short_ids}), Catch::Contains("--budget 1e-3s: "));
  CHECK(said({short_ids, long_ids}) == "attune: --in: 'ids' has the extents 1 x 200; by --shape they are 1 x 300\n");
  CHECK(said({long_ids}) == "attune: --in: 'ids' has the extents 1 x 300; by --shape they are 1 x 200; give a file for each --shape, in their order\n");
  CHECK(said({long_ids, short_ids, long_ids}) == "attune: --in: 'ids' has 3 files for 2 --shape; expected one for all, or one for each in their order\n");
}

TEST_CASE("inputs that do not fit what is measured are refused in one sentence", "[command line]") {
  const Folder folder;
  const auto save = [&](const char* name, const NpyArray& array) {
    REQUIRE(write_npy(folder / name, array));
    return std::string(folder / name);
  };
  const std::string few = save("few.npy", NpyArray::of<std::int64_t>({1, 5}, std::vector<std::int64_t>(5)));
  const std::string halves = save("halves.npy", NpyArray::of<double>({1, 512}, std::vector<double>(512, 0.5)));
  for (const char* command : {"bench", "tune", "explain"}) {
    INFO(command);
    CHECK(problem_of(command, "ids") == "attune: --in 'ids': is not NAME=FILE.npy\n");
    CHECK(problem_of(command, "names=" + few) == "attune: --in: the graph has no input 'names'; it has q, k, v, ids\n");
    CHECK(problem_of(command, "ids=" + few) == "attune: --in: 'ids' has the extents 1 x 5; by --shape they are 1 x 512\n");
    const Ran twice = run_attune({command, "document", "--shape", shape, "--in", "ids=" + few, "--in", "ids=" + few});
    CHECK(twice.err == "attune: --in: 'ids' has 2 files for 1 --shape; expected one for all, or one for each in their order\n");
    CHECK(problem_of(command, "ids=" + halves) == "attune: '" + halves + "': holds f64; input 'ids' takes i64\n");
  }
}

}  // namespace attune
