#include <catch2/catch.hpp>

#include <fstream>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/tools/program.h"

namespace attune {

using nlohmann::json;

TEST_CASE("explain in JSON tells the text's story", "[command line]") {
  const json one =
      json::parse(attune_says({"explain", "causal", "--json", "--target", "x86-64-v3", "--shape", "batch=1,heads=2,queries=100,keys=100"}));
  for (const char* key : {"variant", "parameters", "target", "type", "stages", "call"}) CHECK(one.contains(key));
  REQUIRE(one["stages"].size() == 1);
  CHECK(one["stages"][0]["kind"] == "online_softmax");
  const json& stage = one["stages"][0];
  CHECK(stage["schedules"]["large"]["schedule"] == "online_softmax");
  CHECK(stage["schedules"]["large"]["if"] == "");
  CHECK_THAT(stage["schedules"]["tiny"]["if"].get<std::string>(), Catch::StartsWith("queries <= ") && Catch::Contains(" and keys <= "));
  CHECK(stage["size"] == "large");
  CHECK(stage["reads"] == json{"q", "k", "v"});
  CHECK(stage["writes"] == nlohmann::json::array({{{"name", "out"}, {"dims", {"batch", "heads", "queries", "value_depth"}}}}));
  CHECK(json::parse(attune_says({"explain", "causal", "--json"}))["stages"][0]["size"].is_null());
  CHECK(one["call"]["pairs"][0] == json{{"visible", 10100}, {"all", 20000}, {"doubt", 0}});
  CHECK(one["call"]["visited_blocks"] <= one["call"]["all_blocks"]);
  CHECK(json::parse(attune_says({"explain", "causal", "--json"}))["call"].is_null());
  CHECK_THAT(attune_says({"explain", "causal", "--shape", "batch=1,heads=2,queries=100,keys=100"}),
             Catch::Contains("10100 of 20000 visible (50.5 %)"));
}

TEST_CASE("explain says why a stage is not computed by tensor cores", "[command line]") {
  CHECK_THAT(attune_says({"explain", "causal", "--target", "cuda"}), Catch::Contains("large     gpu_online_softmax: ") && Catch::Contains("since tensor cores need 'depth' known when the kernel is compiled: --set depth=64\n"));
  CHECK_THAT(attune_says({"explain", "causal", "--target", "cuda", "--type", "bf16,q=f32", "--set", "depth=64", "--set", "value_depth=64"}), Catch::Contains("since tensor cores multiply operands of one storage: 'q' is f32 and 'k' is bf16\n"));
  const std::string taken = attune_says({"explain", "causal", "--target", "cuda", "--type", "bf16", "--set", "depth=64", "--set", "value_depth=64"});
  CHECK_THAT(taken, Catch::Contains("large     mma_online_softmax: query_tile=128, key_tile=64, warp_rows=32, kept_queries=1, resident_blocks=1 (default, cuda.json)"));
  CHECK_THAT(taken, Catch::Contains("few       mma_split_keys: split_tile="));
  CHECK(taken.find("since", taken.find("large ")) == std::string::npos);
}

TEST_CASE("explain says how what stages store for one another lies in memory", "[command line]") {
  // Queries, keys and values head by head for the softmax, its result token by token for the projection back.
  const std::string explained = attune_says({"explain", "multi_head"});
  std::vector<std::string> stores;
  std::istringstream lines(explained);
  for (std::string line; std::getline(lines, line);)
    if (const std::size_t at = line.find("stores "); at != std::string::npos) stores.push_back(line.substr(line.find('[', at)));
  CHECK(stores == std::vector<std::string>{"[batch x heads x tokens x depth]", "[batch x heads x tokens x depth]", "[batch x heads x tokens x value_depth]",
                                           "[batch x tokens x heads x value_depth]", "[batch x tokens x model]"});
}

TEST_CASE("explain says of each stage which schedule a call takes, and whose code it is", "[command line]") {
  // The projections of a layer have schedules of their own, whatever attention takes; that of values has the code of that of keys.
  const std::string explained = attune_says({"explain", "multi_head", "--target", "x86-64-v3", "--shape", "batch=1,tokens=24"});
  CHECK_THAT(explained, Catch::Contains("stage 3 of 5: gemm\n    reads     x, wv\n    stores    step2 [") && Catch::Contains("    code      that of stage 2\n"));
  const json one = json::parse(attune_says({"explain", "multi_head", "--target", "x86-64-v3", "--json", "--shape", "batch=1,tokens=24"}));
  std::vector<std::string> sizes;
  std::vector<int> codes;
  for (const json& stage : one["stages"]) {
    sizes.push_back(stage["size"]);
    codes.push_back(stage["code"]);
  }
  CHECK(sizes == std::vector<std::string>{"large", "large", "large", "tiny", "large"});
  CHECK(codes == std::vector<int>{0, 1, 1, 3, 4});
}

TEST_CASE("explain says that no target stores the scores of attention, and which blocks are visited", "[command line]") {
  const Words shape = {"--shape", "batch=1,heads=2,queries=1000,keys=1000,depth=64"};
  for (const char* target : {"x86-64-v3", "opencl", "cuda"}) {
    const std::string text = attune_says({"explain", "causal", "--target", target, shape[0], shape[1]});
    CHECK_THAT(text, Catch::Contains("keeps     tiles of scores alone, never all of them\n") && !Catch::Contains("Stores "));
  }
  // Tiles of 64 queries x 32 keys: of 16 rows of tiles, row n of 31 or 32 visits 2 (n + 1).
  const json gpu = json::parse(attune_says({"explain", "causal", "--target", "cuda", "--json", shape[0], shape[1]}));
  CHECK(gpu["stages"][0]["blocks"] == json{{"visited", 2 * 136}, {"all", 2 * 16 * 16}, {"doubt", 0}});
}

namespace {

/// A variant in a header of its own: causal attention whose queries, keys and values are `a`'s, changed by `body`.
Words header(const Folder& folder, const std::string& body) {
  const std::string path = folder / "variant.h";
  std::ofstream(path) << "#include \"dsl/variants/attention.h\"\nusing namespace attune;\nstruct Variant {\n  std::int64_t stride = 8;\n"
                         "  static constexpr std::string_view name = \"variant\";\n"
                         "  static constexpr auto fields = std::tuple{Field{\"stride\", &Variant::stride}};\n"
                         "  constexpr void operator()(Graph& g) const {\n    const Attention a(g);\n"
                      << body << "  }\n};\n";
  return {path, "--struct", "Variant"};
}

std::string explained(const std::string& body, Words more = {}) {
  const Folder folder;
  Words words = header(folder, body);
  words.insert(words.begin(), "explain");
  words.insert(words.end(), more.begin(), more.end());
  return attune_says(words);
}

const char* const turned =  // the steps of the angles are over 100 operations, which each stage makes for itself
    "    const Dim half = g.dim(\"half\", 32);\n    const Value steps = rotary_steps(index(half), 10000, 64);\n"
    "    const auto turn = [&](Value x, Dim t) { return rotary_embedding(x, rotary_angle(index(t), steps), a.depth, half, RotaryPairs::half_split); };\n"
    "    a.output(mask(matmul(turn(a.q, a.queries), turn(a.k, a.keys), a.depth), index(a.keys) <= index(a.queries)));\n";
const char* const roots = "    a.output(sqrt(softmax(a.scores(), a.keys)), a.v);\n";
const char* const running =  // of weights that no softmax makes
    "    const Value weights = a.causal(exp(a.scores()));\n    a.output(weights * cumulative_sum(weights, a.keys), a.v);\n";
const char* const logarithms = "    const Value s = a.scores();\n    g.output(\"p\", s - log_sum_exp(s, a.keys), {a.batch, a.heads, a.queries, a.keys});\n";
const char* const projected =  // keys of the heads, which are no pairs
    "    const Dim model = g.dim(\"model\"), tokens = g.dim(\"tokens\");\n"
    "    const Value x = g.input(\"x\", {a.batch, tokens, model}), y = rename(x, tokens, a.keys);\n"
    "    const auto of = [&](Value in, const char* name) { return matmul(in, g.input(name, {a.heads, a.depth, model}), model); };\n"
    "    const Value weights = softmax(matmul(of(x, \"wq\"), of(y, \"wk\"), a.depth), a.keys);\n"
    "    g.output(\"out\", matmul(weights, of(y, \"wv\"), a.keys), {a.batch, tokens, a.heads, a.depth});\n";
const char* const two_caches =  // of queries that differ, so that no stage can compute both
    "    const Dim past = g.dim(\"past\"), all = g.dim(\"all\");\n"
    "    const Value q = g.input(\"other_q\", {a.batch, a.heads, a.queries, a.depth}), k = g.input(\"past_k\", {a.batch, past, a.depth});\n"
    "    const Value v = g.input(\"past_v\", {a.batch, past, a.value_depth});\n"
    "    const Value scores = concat({{matmul(q, k, a.depth), past}, {mask(a.scores(), index(a.queries) >= index(a.keys)), a.keys}}, all);\n"
    "    const Value out = matmul(softmax(scores, all), concat({{v, past}, {a.v, a.keys}}, all), all);\n"
    "    g.output(\"out\", out, {a.batch, a.heads, a.queries, a.value_depth});\n";
const char* const softpick =
    "    const Value s = a.scores(), most = max(s, a.keys), e = exp(s - most) - exp(-most);\n"
    "    a.output(maximum(e, 0) / (sum(abs(e), a.keys) + 1e-6), a.v);\n";
const char* const strided =
    "    const Value age = index(a.queries) - index(a.keys);\n"
    "    a.output(mask(a.scores(), age >= 0 && (age < 32 || mod(age, stride) == 0)));\n";

}  // namespace

TEST_CASE("explain counts the work of stages that share many operations", "[command line]") {
  const std::string said = explained(turned, {"--shape", "batch=1,heads=1,queries=1024,keys=1024,depth=64", "--target", "x86-64-v3"});
  CHECK_THAT(said, Catch::Contains("  pairs       524800 of 1048576 visible (50.0 %)\n"));
}

TEST_CASE("explain begins with the stages that store scores", "[command line]") {
  const Words shape = {"--shape", "batch=1,heads=2,queries=1000,keys=500,depth=8"}, device = {"--target", "cuda"};
  const std::string stored = explained(roots, {device[0], device[1], shape[0], shape[1]});
  // 4 bytes of 2 x 1000 x 500, of scores and of weights
  CHECK_THAT(stored, Catch::Contains(" (stride=8) for cuda") && Catch::Contains(
      ", f32\n  Stores queries x keys, 4 MB: stage 1 of 3, gemm: no operand is the result of a softmax\n"
      "  Stores queries x keys, 4 MB: stage 2 of 3, row_softmax: sqrt between softmax and matmul is not linear in the weights\n"));
  CHECK_THAT(explained(running, device), Catch::Contains("\n  Stores queries x keys: stage 1 of 3, gemm: "));
  CHECK_THAT(explained(logarithms, device), Catch::Contains("\n  Stores queries x keys: stage 1 of 4, gemm: "));
  CHECK_THAT(explained(two_caches), Catch::Contains("  Stores queries x past: stage ") && Catch::Contains("  Instead: concat k and v, not scores; "));
  CHECK_THAT(explained(softpick), Catch::Contains("stage 2 of 2: weighted_sum") && !Catch::Contains("Stores "));
  for (const char* variant : {"late_interaction", "cross_entropy", "multi_head", "encoder_layer", "linear_attention", "relu_attention", "recurrent_attention", "embedded"})
    CHECK_THAT(attune_says({"explain", variant}), !Catch::Contains("Stores "));
  CHECK_THAT(explained(projected), Catch::Contains("stage 4 of 4: online_softmax") && !Catch::Contains("Stores "));
  const json one = json::parse(explained(roots, {"--json", device[0], device[1], shape[0], shape[1]}));
  CHECK(one["sweeps"].empty());
  REQUIRE(one["stored_scores"].size() == 2);
  CHECK(one["stored_scores"][1] == json{{"stage", 1}, {"dims", {"queries", "keys"}}, {"is_part", false}, {"bytes", 4e6}});
}

TEST_CASE("explain says which stages a call on the CPU repeats for one block of rows after the other", "[command line]") {
  for (const char* body : {roots, running})
    CHECK_THAT(explained(body), Catch::Contains("\n  Sweeps stages 1 to 3 over blocks of batch, heads, queries: ") && !Catch::Contains("Stores "));
  const json one = json::parse(explained(roots, {"--json"}));
  CHECK(one["stored_scores"].empty());
  CHECK(one["sweeps"] == json::array({{{"first_stage", 0}, {"stages", 3}, {"dims", {"batch", "heads", "queries"}}}}));
}

TEST_CASE("explain counts the pairs of masked scores that a concat lays one behind the other", "[command line]") {
  const json one = json::parse(explained(two_caches, {"--json", "--shape", "batch=1,heads=1,queries=100,keys=100,past=50,depth=8"}));
  CHECK(one["call"]["pairs"][0] == json{{"visible", 5050 + 5000}, {"all", 15000}, {"doubt", 0}});
}

TEST_CASE("explain says where masks leave out few blocks", "[command line]") {
  const std::string shape = "batch=1,heads=1,queries=2048,keys=2048,depth=8";
  CHECK_THAT(explained(strided, {"--shape", shape}), Catch::Contains("docs/examples.md, 'Strided windows'"));
  for (const char* variant : {"causal", "sliding_window", "scaled_dot_product"})
    CHECK_THAT(attune_says({"explain", variant, "--shape", shape}), !Catch::Contains("examples.md"));
}

}  // namespace attune
