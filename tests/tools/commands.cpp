#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "tests/skip.h"
#include "tests/tools/headers.h"
#include "tests/tools/program.h"
#include "tools/npy.h"

namespace attune {
namespace {

using nlohmann::json;

std::set<std::string> keys_of(const json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

/// Elements that differ from one to the next and are exact in bf16.
std::vector<double> wave(std::int64_t count) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<double>((i * 37) % 65 - 32) / 32);
  return values;
}

template <class T>
NpyArray stored_as(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  std::vector<T> elements;
  for (const double x : wave(count)) {
    if constexpr (std::is_same_v<T, std::uint16_t>) elements.push_back(static_cast<T>(std::bit_cast<std::uint32_t>(static_cast<float>(x)) >> 16));
    else elements.push_back(static_cast<T>(x));
  }
  return NpyArray::of<T>(shape, elements);
}

/// The bits of a half; the numbers of `wave` are exact.
std::uint16_t half_bits(double x) {
  if (x == 0) return 0;
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(x), &exponent);  // in [0.5, 1)
  return static_cast<std::uint16_t>((x < 0 ? 0x8000 : 0) | (exponent + 14) << 10 | (static_cast<int>(fraction * 2048) & 1023));
}

NpyArray stored_as_halves(const std::vector<std::int64_t>& shape) {
  NpyArray array = stored_as<std::uint16_t>(shape);
  std::vector<std::uint16_t> bits;
  for (const double x : wave(array.size())) bits.push_back(half_bits(x));
  array = NpyArray::of<std::uint16_t>(shape, bits);
  array.type = NpyType::f16;
  return array;
}

/// q, k and v of one call of `causal`, as files; and the words that name them.
struct Files {
  Folder folder;
  Words inputs;

  template <class Make>
  explicit Files(Make make, std::int64_t depth = 8) {
    const std::map<std::string, std::vector<std::int64_t>> shapes = {{"q", {1, 2, 5, depth}}, {"k", {1, 2, 7, depth}}, {"v", {1, 2, 7, 3}}};
    for (const auto& [name, shape] : shapes) {
      const std::string file = folder / (name + ".npy").c_str();
      REQUIRE(write_npy(file, make(shape)));
      inputs.insert(inputs.end(), {"--in", name + "=" + file});
    }
  }

  /// Runs with these words in front, and reads `out`.
  NpyArray run(Words words) const {
    const std::string file = folder / "out.npy";
    words.insert(words.begin(), "run");
    words.insert(words.end(), inputs.begin(), inputs.end());
    words.insert(words.end(), {"--out", "out=" + file});
    attune_says(words);
    const Result<NpyArray> out = read_npy(file);
    REQUIRE(out);
    CHECK(out->shape == std::vector<std::int64_t>{1, 2, 5, 3});
    return *out;
  }
};

/// Attention of the wave, as the variant says it: each query sees the keys up to its own position.
std::vector<double> causal_of_wave() {
  const std::vector<double> q = wave(80), k = wave(112), v = wave(42);
  std::vector<double> out;
  for (std::size_t h = 0; h < 2; ++h)
    for (std::size_t i = 0; i < 5; ++i) {
      std::array<double, 3> sum{};
      double total = 0;
      for (std::size_t j = 0; j <= i; ++j) {
        double score = 0;
        for (std::size_t d = 0; d < 8; ++d) score += q[(h * 5 + i) * 8 + d] * k[(h * 7 + j) * 8 + d];
        const double weight = std::exp(score / std::sqrt(8.0));
        total += weight;
        for (std::size_t d = 0; d < 3; ++d) sum[d] += weight * v[(h * 7 + j) * 3 + d];
      }
      for (const double x : sum) out.push_back(x / total);
    }
  return out;
}

template <class T>
double largest_difference(const NpyArray& array) {
  const auto got = array.values<T>();
  REQUIRE(got);
  const std::vector<double> expected = causal_of_wave();
  REQUIRE(got->size() == expected.size());
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    double x;
    if constexpr (std::is_same_v<T, std::uint16_t>) x = static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>((*got)[i]) << 16));
    else x = static_cast<double>((*got)[i]);
    worst = std::max(worst, std::fabs(x - expected[i]));
  }
  return worst;
}

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

TEST_CASE("list names what there is", "[command line]") {
  CHECK_THAT(attune_says({"list"}), Catch::Contains("causal ") && Catch::Contains("sliding_window ") && Catch::Contains("(window=256)"));
  CHECK(attune_says({"list"}) == attune_says({"list", "variants"}));
  CHECK_THAT(attune_says({"list", "ops"}), Catch::Contains("softmax ") && Catch::Contains("matmul ") && Catch::Contains("dropout "));
  CHECK_THAT(attune_says({"list", "schedules"}), Catch::Contains("online_softmax ") && Catch::Contains("query_tile") && Catch::Contains(", on GPUs"));
  CHECK_THAT(attune_says({"list", "targets"}), Catch::Contains("x86-64-v3 ") && Catch::Contains("arm64 ") && Catch::Contains("cuda ") && Catch::Contains("This CPU: "));
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

TEST_CASE("run computes the same from a variant, a kernel file, a header and the interpreter", "[command line]") {
  const Files files(stored_as<float>);
  attune_says({"compile", "causal", "--shared", "--size", "small", "-o", files.folder / "."});
  CHECK(largest_difference<float>(files.run({"causal"})) < 1e-5);
  CHECK(largest_difference<float>(files.run({files.folder / "causal.so", "--threads", "1"})) < 1e-5);
  CHECK(largest_difference<double>(files.run({"causal", "--interpret"})) < 1e-12);
  const std::string header = files.folder.write("reach.h", good_header);
  const NpyArray reach = files.run({header, "--struct", "Reach", "--param", "reach=1"});
  const NpyArray interpreted = files.run({header, "--struct", "Reach", "--param", "reach=1", "--interpret"});
  for (std::size_t i = 0; i < 30; ++i) CHECK(static_cast<double>((*reach.values<float>())[i]) == Approx((*interpreted.values<double>())[i]).margin(1e-5));
}

TEST_CASE("bf16 stands as uint16 in files", "[command line]") {
  const Files files(stored_as<std::uint16_t>);
  const NpyArray out = files.run({"causal", "--type", "bf16"});
  CHECK(out.type == NpyType::u16);
  CHECK(largest_difference<std::uint16_t>(out) < 0.02);
  CHECK(largest_difference<double>(files.run({"causal", "--interpret"})) < 1e-12);
}

TEST_CASE("the interpreter reads halves and doubles", "[command line]") {
  CHECK(largest_difference<double>(Files(stored_as_halves).run({"causal", "--interpret"})) < 1e-12);
  CHECK(largest_difference<double>(Files(stored_as<double>).run({"causal", "--interpret"})) < 1e-12);
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
  CHECK(keys_of(one) == std::set<std::string>{"variant", "parameters", "target", "type", "shape", "threads", "milliseconds_min", "milliseconds_median", "milliseconds_min_unaligned", "gflops",
                                              "peak_gflops", "peak_share", "visited_blocks", "all_blocks"});
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
  CHECK_THAT(bench({"sliding_window", "--param", "window=7"}), Catch::StartsWith("sliding_window (window=7) for ") && Catch::Contains(" GFLOP/s of visible pairs"));
  CHECK(json::parse(bench({"sliding_window", "--param", "window=7", "--json"}))["parameters"] == "window=7");
  const Folder folder;
  std::ofstream(folder / "twice.mlir") << "func.func @twice(%x: !attn.tensor<queries, real> {attn.name = \"x\"}) -> !attn.tensor<queries, real> {\n"
                                          "  %0 = attn.add %x, %x : (!attn.tensor<queries, real>, !attn.tensor<queries, real>) -> !attn.tensor<queries, real>\n"
                                          "  attn.return %0 {names = [\"out\"], dims = [[\"queries\"]]} : !attn.tensor<queries, real>\n}\n";
  const std::string said = attune_says({"bench", folder / "twice.mlir", "--threads", "1", "--shape", "queries=5000"});
  CHECK_THAT(said, Catch::Contains(" GB/s of inputs and outputs, each once; there is no product\n") && !Catch::Contains("GFLOP"));
}

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
  const Files files(stored_as<float>, 64);
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
      for (const std::string& word : example) line += " '" + std::regex_replace(word, std::regex(command == "bench" || command == "tune" ? "=4096" : "^$"), "=64") + "'";
      if (example[0] == "tune") line += " --tries 1";
      const Ran ran = run_program({"sh", "-c", line});
      INFO(line << "\n" << ran.err);
      CHECK(ran.status == 0);
      ++count;
    }
  CHECK(count >= 15);
}

}  // namespace attune
