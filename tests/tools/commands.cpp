#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/skip.h"
#include "tests/tools/program.h"

namespace attune {
namespace {

using nlohmann::json;

std::set<std::string> keys_of(const json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

}  // namespace

TEST_CASE("list names what there is", "[command line]") {
  CHECK_THAT(attune_says({"list"}), Catch::Contains("causal ") && Catch::Contains("sliding_window ") && Catch::Contains("(window=256)"));
  CHECK(attune_says({"list"}) == attune_says({"list", "variants"}));
  CHECK_THAT(attune_says({"list", "ops"}), Catch::Contains("softmax ") && Catch::Contains("matmul ") && Catch::Contains("dropout "));
  CHECK_THAT(attune_says({"list", "schedules"}), Catch::Contains("online_softmax ") && Catch::Contains("query_tile") && Catch::Contains(", on GPUs"));
  CHECK_THAT(attune_says({"list", "targets"}),
             Catch::Contains("x86-64-v3 ") && Catch::Contains("arm64 ") && Catch::Contains("cuda ") && Catch::Contains("This CPU: "));
}

TEST_CASE("codes of kernels that are called at once are kept where ATTUNE_CODES says", "[command line]") {
  const Folder folder;
  const std::string kept = folder / "kept";
  const auto codes = [&] {
    std::set<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kept))
      if (entry.is_regular_file()) files.insert(entry.path());
    return files;
  };
  const auto checked = [&](const std::string& graph, const std::string& where) {
    return run_attune({"check", graph, "--set", "depth=16,value_depth=16", "--shape", "queries=5,keys=7", "--seed", "3"}, {{"ATTUNE_CODES", where}});
  };
  const Ran first = checked("causal", kept);
  if (first.err.find("attune: target 'host'") == 0) return skip("this CPU is none of the targets");
  REQUIRE(first.status == 0);
  const auto of_causal = codes();
  CHECK(!of_causal.empty());
  for (const auto& path : of_causal) CHECK(path.parent_path().parent_path() == kept);  // a folder of this very compiler
  const auto written = std::filesystem::last_write_time(*of_causal.begin());
  CHECK(checked("causal", kept).out == first.out);
  CHECK(codes() == of_causal);
  CHECK(std::filesystem::last_write_time(*of_causal.begin()) == written);
  CHECK(checked("scaled_dot_product", kept).status == 0);
  CHECK(codes().size() == 2 * of_causal.size());
  const Ran refused = checked("causal", "/dev/null/kept");
  CHECK(refused.status == 2);
  CHECK(refused.err.find("attune: ATTUNE_CODES: '/dev/null/kept/") == 0);
}

TEST_CASE("a kernel file says for which CPUs its codes were tuned", "[command line]") {
  const Folder folder;
  attune_says({"compile", "causal", "--target", "zen4,x86-64-v4", "--size", "tiny", "-o", folder / ""});
  const auto json = nlohmann::json::parse(contents(folder / "causal.json"));
  CHECK(json["steps"][0]["codes"][0]["cpus"] == "amd/25");
  CHECK(json["steps"][0]["codes"][1]["cpus"] == "");
}

TEST_CASE("a signature in JSON has the names that other tools use", "[command line]") {
  const json causal = json::parse(attune_says({"show", "causal", "--signature", "--json"}));
  CHECK(keys_of(causal) == std::set<std::string>{"name", "parameters", "inputs", "outputs", "dims"});
  CHECK(causal["name"] == "causal");
  CHECK(causal["inputs"][0] == json{{"name", "q"}, {"kind", "real"}, {"dims", {"batch", "heads", "queries", "depth"}}});
  CHECK(causal["inputs"][2] == json{{"name", "v"}, {"kind", "real"}, {"dims", {"batch", "heads", "keys", "value_depth"}}});
  CHECK(causal["outputs"] == json::array({{{"name", "out"}, {"kind", "real"}, {"dims", {"batch", "heads", "queries", "value_depth"}}}}));

  const json layer = json::parse(
      attune_says({"show", "multi_head", "--signature", "--json", "--param", "biases=true,mask=true,weights=true,dropout=0.1,score_weights=true"}));
  const std::map<std::string, json> expected = {
      {"x", {"batch", "tokens", "model"}},      {"wq", {"heads", "depth", "model"}}, {"wk", {"heads", "depth", "model"}},
      {"wv", {"heads", "value_depth", "model"}}, {"wo", {"model", "heads", "value_depth"}},
      {"bq", {"heads", "depth"}},               {"bk", {"heads", "depth"}},          {"bv", {"heads", "value_depth"}}, {"bo", {"model"}}};
  std::map<std::string, json> dims;
  for (const json& input : layer["inputs"]) dims.emplace(input["name"], input["dims"]);
  for (const auto& [name, names] : expected) {
    INFO(name);
    REQUIRE(dims.contains(name));
    CHECK(dims[name] == names);
  }
  for (const char* name : {"mask", "score_weights", "seed", "offset"}) CHECK(dims.contains(name));
  std::set<std::string> outputs;
  for (const json& output : layer["outputs"]) outputs.insert(output["name"]);
  CHECK(outputs == std::set<std::string>{"out", "weights"});
}

TEST_CASE("check compares with the interpreter and says how", "[command line]") {
  const std::string said = attune_says({"check", "causal", "--shape", "queries=5,keys=3", "--seed", "7"});
  CHECK_THAT(said, Catch::StartsWith("variant 'causal', target '") &&
                       Catch::Contains("', tiny whole_rows of batch=2,heads=3,queries=5,keys=3,depth=64,value_depth=64: out: 1920 elements agree, largest difference ") &&
                       Catch::EndsWith("; seed 7\n"));
  CHECK(attune_says({"check", "causal", "--shape", "queries=5,keys=3", "--seed", "7"}) == said);
  CHECK(attune_says({"check", "causal", "--shape", "queries=5,keys=3", "--seed", "8"}) != said);
  CHECK_THAT(attune_says({"check", "causal", "--shape", "keys=0"}), Catch::Contains("elements agree, largest difference 0,"));
}

TEST_CASE("check says how many elements are NaN or infinite", "[command line]") {
  const Words shape = {"check", "embedded", "--shape", "vocabulary=0,tokens=1,model=1"};  // no token has an embedding
  CHECK_THAT(attune_says(shape), Catch::Contains("elements agree, all of them NaN or infinite (other extents or inputs may say more), largest difference 0,"));
}

TEST_CASE("check without a shape reaches every code", "[command line]") {
  const std::string said = attune_says({"check", "causal"});
  std::size_t from = 0;
  for (const char* calls : {"tiny whole_rows of ", "few split_keys of ", "small online_softmax of ", "large online_softmax of "}) {
    INFO(calls << " in\n" << said);
    from = said.find(calls, from);
    REQUIRE(from != std::string::npos);
  }
  CHECK(std::ranges::count(said, '\n') == 4);
}

TEST_CASE("check says what is wrong with a shape before it compiles", "[command line]") {
  const Ran ran = run_attune({"check", "multi_head", "--param", "panels=true", "--set", "column=64", "--shape", "column=3"});
  CHECK(ran.status == 2);
  CHECK_THAT(ran.err, Catch::Contains("--shape column=3: --set says column=64; they must agree"));
}

TEST_CASE("bench in JSON has these members and no others", "[command line]") {
  const json one = json::parse(attune_says({"bench", "causal", "--json", "--threads", "1", "--shape", "batch=1,heads=2,queries=100,keys=100,depth=16"}));
  CHECK(keys_of(one) == std::set<std::string>{"variant", "parameters", "target", "type", "shape", "threads", "milliseconds_min",
                                              "milliseconds_median", "milliseconds_min_unaligned", "gflops", "peak_gflops", "peak_share",
                                              "visited_blocks", "all_blocks"});
  CHECK(one["variant"] == "causal");
  CHECK(one["type"] == "f32");
  CHECK(one["threads"] == 1);
  CHECK(one["shape"] == json{{"batch", 1}, {"heads", 2}, {"queries", 100}, {"keys", 100}, {"depth", 16}, {"value_depth", 16}});
  CHECK(one["milliseconds_min"] > 0);
  CHECK(one["milliseconds_median"] >= one["milliseconds_min"]);
  CHECK(one["milliseconds_min_unaligned"] > 0);
  // 10100 visible pairs, two products of depth 16
  CHECK(one["gflops"].get<double>() == Approx(2 * 2 * 16 * 10100 / one["milliseconds_min"].get<double>() * 1e-6));
  CHECK(one["peak_share"].get<double>() == Approx(one["gflops"].get<double>() / one["peak_gflops"].get<double>()));
  CHECK(one["visited_blocks"] > 0);
  CHECK(one["visited_blocks"] <= one["all_blocks"]);
}

TEST_CASE("bench says parameters, and bytes where there is no product", "[command line]") {
  const Words shape = {"--threads", "1", "--shape", "batch=1,heads=2,queries=100,keys=100,depth=16"};
  const auto bench = [&](Words words) {
    words.insert(words.begin(), "bench");
    words.insert(words.end(), shape.begin(), shape.end());
    return attune_says(words);
  };
  CHECK_THAT(bench({"sliding_window", "--param", "window=7"}),
             Catch::StartsWith("sliding_window (window=7) for ") && Catch::Contains(" GFLOP/s of visible pairs"));
  CHECK(json::parse(bench({"sliding_window", "--param", "window=7", "--json"}))["parameters"] == "window=7");
  const Folder folder;
  std::ofstream(folder / "twice.mlir") << "func.func @twice(%x: !attn.tensor<queries, real> {attn.name = \"x\"}) -> !attn.tensor<queries, real> {\n"
                                          "  %0 = attn.add %x, %x : (!attn.tensor<queries, real>, !attn.tensor<queries, real>) -> !attn.tensor<queries, real>\n"
                                          "  attn.return %0 {names = [\"out\"], dims = [[\"queries\"]]} : !attn.tensor<queries, real>\n}\n";
  const std::string said = attune_says({"bench", folder / "twice.mlir", "--threads", "1", "--shape", "queries=5000"});
  CHECK_THAT(said, Catch::Contains(" GB/s of inputs and outputs, each once; there is no product\n") && !Catch::Contains("GFLOP"));
}

}  // namespace attune
