#include <catch2/catch.hpp>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/skip.h"
#include "tests/tools/headers.h"
#include "tests/tools/program.h"

namespace attune {
namespace {

/// Less than a test may take; --tries ends a run before on most machines.
const char* const long_budget = "250s";

const char* const shape = "batch=1,heads=1,queries=40,keys=70,depth=16";

/// The name of this machine's target, or nothing.
std::string host_target() {
  const Ran ran = run_attune({"explain", "causal", "--json"});
  return ran.status == 0 ? nlohmann::json::parse(ran.out)["target"].get<std::string>() : std::string();
}

std::string tune_problem(Words words) {
  words.insert(words.begin(), {"tune", "causal", "--shape", shape});
  const Ran ran = run_attune(words);
  CHECK(ran.status == 2);
  return ran.err;
}

}  // namespace

TEST_CASE("a tuning run reports every stage and writes a file that kernels are compiled by", "[tuning]") {
  const std::string target = host_target();
  if (target.empty()) return skip("this CPU is none of the targets");
  const Folder folder;
  const std::string out = folder / "tuned.json";
  const Ran ran = run_attune({"tune", "causal", "--shape", shape, "--budget", long_budget, "--tries", "2", "--threads", "1", "--out", out, "--json"});
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  CHECK(ran.err.find("stage 1 of 1: online_softmax, large") != std::string::npos);
  CHECK(!std::filesystem::exists(out + ".state"));
  const auto json = nlohmann::json::parse(ran.out);
  CHECK(json["target"] == target);
  REQUIRE(json["stages"].size() == 1);
  const auto& stage = json["stages"][0];
  CHECK(stage["schedule"] == "online_softmax");
  CHECK(stage["tried"] == 2);
  CHECK(stage["failed"].get<int>() <= 2);
  CHECK(stage["default_ms"].get<double>() > 0);
  CHECK(stage["parameters"].size() == stage["default"].size());
  CHECK(stage["small_up_to"].is_null());
  CHECK(std::filesystem::exists(out) == stage["is_better"].get<bool>());
  if (!std::filesystem::exists(out)) return;
  const auto explained = nlohmann::json::parse(attune_says({"explain", "causal", "--tuned", out, "--json"}))["stages"][0];
  CHECK(explained["key"] == stage["stage"]);
  for (const auto& [size, schedule] : explained["schedules"].items()) {
    const bool is_tuned = stage["size"] == size;
    CHECK(schedule["origin"] == (is_tuned ? "tuned: exact" : "default"));
    if (is_tuned) CHECK(schedule["parameters"] == stage["parameters"]);
  }
  attune_says({"check", "causal", "--tuned", out, "--shape", shape});
}

TEST_CASE("a tuning run has to beat the defaults of a file that it is given", "[tuning]") {
  const std::string target = host_target();
  if (target.empty()) return skip("this CPU is none of the targets");
  const Folder folder;
  const nlohmann::json parameters = {{"query_tile", 8}, {"key_tile", 64}, {"middle_tile", 64}, {"edge_tile", 64}, {"register_rows", 1},
                                     {"register_vectors", 1}, {"copy_values", 0}, {"prefetch", 0}};
  const nlohmann::json record = {{"schedule", "online_softmax"}, {"size", "large"}, {"parameters", parameters}};
  const nlohmann::json file = {{"target", target}, {"defaults", {record}}, {"stages", nlohmann::json::object()}, {"tuned", nlohmann::json::array()}};
  const std::string other = folder.write("other.json", file.dump());
  const auto json = nlohmann::json::parse(
      attune_says({"tune", "causal", "--shape", shape, "--threads", "1", "--budget", long_budget, "--tries", "1", "--tuned", other, "--out", folder / "tuned.json", "--json"}));
  CHECK(json["stages"][0]["default"] == parameters);
}

TEST_CASE("a tuning run of small calls learns up to which extent they are small", "[tuning]") {
  if (host_target().empty()) return skip("this CPU is none of the targets");
  const Folder folder;
  const std::string out = folder / "tuned.json";
  const auto json = nlohmann::json::parse(
      attune_says({"tune", "causal", "--shape", "batch=1,heads=2,queries=9,keys=80,depth=64", "--threads", "1", "--budget", long_budget, "--tries", "1", "--out", out, "--json"}));
  const auto& stage = json["stages"][0];
  CHECK(stage["size"] == "small");
  const std::int64_t limit = stage["small_up_to"];
  CHECK((limit >= 1 && limit <= 256));
  if (json["out"].is_null()) return;
  const auto explained = nlohmann::json::parse(attune_says({"explain", "causal", "--tuned", out, "--json"}));
  CHECK(explained.dump().find("tuned: exact") != std::string::npos);
  attune_says({"check", "causal", "--tuned", out, "--shape", "queries=9,keys=80"});
  attune_says({"check", "causal", "--tuned", out, "--shape", "queries=67,keys=80"});
}

TEST_CASE("a tuning run of tiny calls learns up to how many queries and keys are tiny", "[tuning]") {
  if (host_target().empty()) return skip("this CPU is none of the targets");
  const Folder folder;
  const std::string out = folder / "tuned.json";
  const auto json = nlohmann::json::parse(
      attune_says({"tune", "causal", "--shape", "batch=1,heads=2,queries=3,keys=20,depth=64", "--threads", "1", "--budget", long_budget, "--tries", "1", "--out", out, "--json"}));
  const auto& stage = json["stages"][0];
  CHECK(stage["schedule"] == "whole_rows");
  CHECK(stage["size"] == "tiny");
  const std::int64_t limit = stage["small_up_to"];
  CHECK((limit >= 1 && limit <= 256));
  if (json["out"].is_null()) return;
  for (const char* shape : {"queries=3,keys=3", "queries=3,keys=300", "queries=67,keys=67"}) attune_says({"check", "causal", "--tuned", out, "--shape", shape});
}

TEST_CASE("a tuning run of few queries learns up to how many are few", "[tuning]") {
  if (host_target().empty()) return skip("this CPU is none of the targets");
  const Folder folder;
  const std::string out = folder / "tuned.json";
  const auto json = nlohmann::json::parse(
      attune_says({"tune", "causal_offset", "--shape", "batch=1,heads=2,queries=1,keys=700,depth=64", "--threads", "1", "--budget", long_budget, "--tries", "1", "--out", out, "--json"}));
  const auto& stage = json["stages"][0];
  CHECK(stage["size"] == "few");
  const std::int64_t limit = stage["small_up_to"];
  CHECK((limit >= 1 && limit <= 256));
  if (json["out"].is_null()) return;
  for (const char* queries : {"1", "3", "67"}) attune_says({"check", "causal_offset", "--tuned", out, "--shape", std::string("keys=70,queries=") + queries});
}

TEST_CASE("schedules of a device are tuned on it", "[tuning]") {
  if (const std::string problem = refusal_of_device("opencl"); !problem.empty()) return skip(problem);
  const Folder folder;
  const std::string out = folder / "tuned.json";
  const Ran ran = run_attune({"tune", "scaled_dot_product", "--target", "opencl", "--shape", "batch=1,heads=1,queries=70,keys=70,depth=4", "--budget", long_budget, "--tries", "1", "--out", out, "--json"});
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  const auto stage = nlohmann::json::parse(ran.out)["stages"][0];
  CHECK(stage["schedule"] == "gpu_online_softmax");
  CHECK(stage["tried"] == 1);
  CHECK(stage["default_ms"].get<double>() > 0);
}

TEST_CASE("a tuning run that cannot try anything says so, and one that finds nothing writes nothing", "[tuning]") {
  if (host_target().empty()) return skip("this CPU is none of the targets");
  const Folder folder;
  const std::string too_short = tune_problem({"--budget", "1e-3s", "--out", folder / "tuned.json"});
  CAPTURE(too_short);
  // the latter where the kernel's codes are kept
  CHECK((too_short == "attune: --budget 1e-3s: is over before the kernel by the default schedules is compiled and called; give several times as much\n" ||
         too_short.find("attune: --budget 1e-3s: is too short for one candidate: the kernel by the default schedules took 0") == 0));
  CHECK(folder.size() == 0);
  // The first candidates are defaults of other targets, of which none is faster than the default for all of 1500 queries;
  // if one is on some machine, there is a file.
  const std::string said = attune_says({"tune", "causal", "--shape", "batch=1,heads=1,queries=1500,keys=1500,depth=64", "--threads", "1", "--budget", long_budget, "--tries", "1", "--out",
                                        folder / "tuned.json"});
  const bool is_written = std::filesystem::exists(folder / "tuned.json");
  CHECK((said.find("No file is written: kernels are best as they are by default, without --tuned\n") != std::string::npos) == !is_written);
  CHECK(folder.size() == (is_written ? 1 : 0));
}

TEST_CASE("a header is compiled once for all candidates of a tuning run", "[tuning]") {
  if (host_target().empty()) return skip("this CPU is none of the targets");
  const Folder folder;
  const std::string header = folder.write("good.h", good_header);
  std::filesystem::permissions(folder.write("counted", "#!/bin/sh\necho >> \"$COUNT\"\nexec \"$COMPILER\" \"$@\"\n"), std::filesystem::perms::owner_all);
  const Ran ran = run_attune({"tune", header, "--struct", "Reach", "--param", "reach=5", "--shape", shape, "--threads", "1", "--budget", long_budget, "--tries", "1", "--out", folder / "tuned.json"},
                             {{"CXX", folder / "counted"}, {"COMPILER", own_compiler()}, {"COUNT", folder / "count"}});
  INFO(ran.err);
  CHECK(ran.status == 0);
  CHECK(contents(folder / "count") == "\n");
}

TEST_CASE("a tuning run that is interrupted goes on, and its state is for no other run", "[tuning]") {
  if (host_target().empty()) return skip("this CPU is none of the targets");
  const Folder folder;
  const std::string out = folder / "tuned.json", state = out + ".state";
  const Words command = {"tune", "causal", "--shape", shape, "--threads", "1", "--out", out};
  const Folder messages;
  // Ctrl-C a second after the first candidate was tried, whatever else the machine does.
  Words words{"sh", "-c", R"(state="$1"; shift; "$@" 2>"$0" & while ! grep -qs outcome "$state"; do sleep 0.1; done; sleep 1; kill -INT $!; wait $!; echo $?)",
              messages / "err", state, ATTUNE_PROGRAM};
  words.insert(words.end(), command.begin(), command.end());
  words.insert(words.end(), {"--budget", long_budget});
  CHECK(run_program(words).out == "130\n");
  CHECK(contents(messages / "err").find("attune: tune was interrupted; the same command goes on with what '" + state + "' holds\n") != std::string::npos);
  REQUIRE(std::filesystem::exists(state));
  CHECK(folder.size() == 1);
  const std::size_t tried = nlohmann::json::parse(contents(state))["tasks"][0].size();
  CHECK(tried > 0);

  const std::string other = tune_problem({"--threads", "2", "--out", out});
  CHECK(other.find("attune: '" + state + "': is the state of another run, ") == 0);
  Words again = command;
  again.insert(again.end(), {"--budget", "1s", "--json"});
  const auto json = nlohmann::json::parse(attune_says(again));
  CHECK(json["stages"][0]["tried"] == tried);
  CHECK(!std::filesystem::exists(state));
}

TEST_CASE("a run for defaults writes one of every schedule and size, and kernels take them", "[tuning]") {
  const std::string target = host_target();
  if (target.empty()) return skip("this CPU is none of the targets");
  const Folder folder;
  const std::string out = folder / "machine.json";
  const auto json = nlohmann::json::parse(attune_says({"tune", "--defaults", "--threads", "1", "--budget", long_budget, "--tries", "1", "--out", out, "--json"}));
  CHECK(folder.size() == 1);
  CHECK(json["out"] == out);
  const auto written = nlohmann::json::parse(contents(out));
  CHECK(written["tuned"].empty());
  CHECK(written["defaults"].size() >= json["stages"].size());
  for (const auto& stage : json["stages"]) {
    CAPTURE(stage["schedule"].get<std::string>(), stage["size"].get<std::string>());
    CHECK(stage["tried"] == 1);
    CHECK(stage["failed"] == 0);
    CHECK(stage["calls"].size() >= 1);
    for (const auto& call : stage["calls"]) CHECK(call["default_ms"].get<double>() > 0);
    const auto is_its = [&](const auto& record) { return record["schedule"] == stage["schedule"] && record["size"] == stage["size"]; };
    const auto record = std::ranges::find_if(written["defaults"], is_its);
    REQUIRE(record != written["defaults"].end());
    CHECK((*record)["parameters"] == stage["parameters"]);
  }
  const auto explained = nlohmann::json::parse(attune_says({"explain", "causal", "--tuned", out, "--json"}));
  REQUIRE(!explained["stages"][0]["schedules"].empty());
  for (const auto& [size, schedule] : explained["stages"][0]["schedules"].items()) {
    CHECK(schedule["origin"] == "default");
    CHECK(schedule["file"] == out);
  }
  attune_says({"check", "multi_head", "--tuned", out, "--shape", "tokens=37"});
}

TEST_CASE("what a run for defaults does not take is refused in words", "[tuning]") {
  const auto refused = [](const Words& words) {
    const Ran ran = run_attune(words);
    CHECK(ran.status == 2);
    return ran.err;
  };
  CHECK(refused({"tune", "--defaults"}) == "attune: tune: --out is missing; expected the tuned file to write or extend; TARGET.json without it, needed with --defaults\n");
  CHECK(refused({"tune", "causal", "--defaults", "--out", "x"}) == "attune: --defaults: is for all graphs, and measured with those that it brings; GRAPH does not go with it\n");
  CHECK(refused({"tune", "--defaults", "--shape", "queries=5", "--out", "x"}).find("; --shape does not go with it\n") != std::string::npos);
  CHECK(refused({"tune", "--defaults", "--type", "bf16", "--out", "x"}).find("; --type does not go with it\n") != std::string::npos);
  CHECK(refused({"tune", "causal"}).find("attune: tune: --shape is missing; expected DIM=EXTENT,...") == 0);
  CHECK(refused({"tune"}).find("attune: tune: GRAPH is missing; expected a variant's name") == 0);
}

TEST_CASE("what cannot be tuned is refused in words", "[tuning]") {
  if (host_target().empty()) return skip("this CPU is none of the targets");
  CHECK(tune_problem({"--budget", "soon"}) == "attune: --budget 'soon': is not a time up to 1000000s; 90s and 2m are\n");
  for (const char* time : {"inf", "nan", "1e300", "1e300m", "-1s"}) CHECK(tune_problem({"--budget", time}).find("is not a time up to 1000000s") != std::string::npos);
  CHECK(tune_problem({"--threads", "1.5"}) == "attune: --threads: '1.5' is not a whole number from 1 to 256\n");
  CHECK(tune_problem({"--seed", "-1"}) == "attune: --seed: '-1' is not a whole number from 0 to 9223372036854775807\n");
  CHECK(tune_problem({"--device", "cuda"}).find("attune: --device cuda: target '") == 0);
  CHECK(tune_problem({"--target", "opencl", "--device", "cuda:1"}) == "attune: --device cuda:1: target 'opencl' runs on opencl and opencl:NUMBER\n");
  CHECK(tune_problem({"--target", "opencl", "--device", "opencl:99"}).find("attune: target 'opencl': this machine cannot run it: its driver") == 0);
  CHECK(tune_problem({"--schedule", "online_softmax,key_tile=64"}) ==
        "attune: --schedule online_softmax,key_tile=64: tune chooses parameters itself; only 'unfused' is taken\n");
  CHECK(tune_problem({"--shape", "queries=0"}).find("queries = 0 leaves nothing to measure; all extents must be at least 1") != std::string::npos);
  const Folder folder;
  const std::string arm = folder.write("arm64.json", R"({"target": "arm64", "defaults": [], "stages": {}, "tuned": []})");
  CHECK(tune_problem({"--out", arm}).find("attune: --out " + arm + ": is for target 'arm64'; this run tunes for '") == 0);
}

}  // namespace attune
