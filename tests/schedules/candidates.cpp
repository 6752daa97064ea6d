#include <catch2/catch.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "tests/skip.h"
#include "tests/tools/program.h"
#include "tests/variant_graph.h"
#include "tools/measure/caches.h"
#include "tools/measure/example.h"
#include "tools/tune/child.h"
#include "tools/tune/default_set.h"
#include "tools/tune/duel.h"
#include "tools/tune/plan.h"

namespace attune {
namespace {

/// The kernel file of a variant that goes by the name "causal", or nothing where this machine has no target.
std::string kernel_of(const Folder& folder, const std::string& variant) {
  const std::filesystem::path place = folder / variant.c_str();
  std::filesystem::create_directory(place);
  const Ran ran = run_attune({"compile", variant, "--name", "causal", "--shared", "-o", place});
  return ran.status == 0 ? (place / "causal.so").string() : std::string();
}

/// A call of `causal` with the interpreter's outputs.
DuelCall call_of(const Graph& graph, const Shape& given) {
  const FilledShape filled = fill_shape(graph, given);
  REQUIRE(filled.problem == "");
  DuelCall call{filled.extents, random_inputs(graph, filled.extents, 3), {}, {}};
  Judge right = judge(graph, call.inputs, {});
  REQUIRE(right.problem == "");
  call.expected = std::move(right.outputs);
  call.allowed = std::move(right.allowed);
  return call;
}

}  // namespace

TEST_CASE("what a child does to itself costs the child", "[tuning]") {
  constexpr double limit_s = 60;
  CHECK(in_child([] { return std::string("done"); }, limit_s).text == "done");
  CHECK(in_child([] { return std::string(100000, 'x'); }, limit_s).text.size() == 100000);
  CHECK(in_child([]() -> std::string { std::abort(); }, limit_s).problem == "ended by a signal: Aborted");
  CHECK(in_child([]() -> std::string { _exit(3); }, limit_s).problem == "ended with status 3");
  const ChildAnswer hang = in_child(
      []() -> std::string {
        while (true) pause();
      },
      1);
  CHECK(hang.problem == "took more than 1 s");
  CHECK(hang.text == "");
}

TEST_CASE("commands run side by side, and each says what came of it", "[tuning]") {
  constexpr double limit_s = 60;
  const std::vector<std::vector<std::string>> commands = {{"--help"}, {"--no-such-option"}};
  const std::vector<ChildAnswer> answers = run_selves(commands, limit_s);
  REQUIRE(answers.size() == 2);
  CHECK(answers[0].problem == "");
  CHECK(answers[1].problem.find("ended with status") == 0);
  CHECK(answers[1].text.find("no-such-option") != std::string::npos);
  CHECK(run_selves({}, limit_s).empty());
}

TEST_CASE("the dims that tell small calls from large ones are varied together", "[tuning]") {
  Options options;
  options.graph.graph = "multi_head";
  const TargetInfo* target = find_target("host");
  if (target == nullptr) return skip("this CPU is none of the targets");
  const TunePlan plan = make_plan({{prepare(options), "multi_head", {"multi_head"}, {}, {}, {"batch=2,heads=3,tokens=5,model=16,depth=8"}, {}}}, *target);
  REQUIRE(plan.problem == "");
  const SubjectCalls& subject = plan.subjects[0];
  REQUIRE(subject.row_dims.contains(SizeClass::small));
  CHECK(subject.row_dims.at(SizeClass::small) == std::vector<std::string>{"batch", "tokens"});  // of the layers' rows
  CHECK(subject.row_dims.at(SizeClass::tiny) == std::vector<std::string>{"tokens"});            // of attention's queries and keys
  const Shape extents = subject.with_rows(plan.calls[0].call, SizeClass::small, 7).extents;
  for (const auto& [dim, extent] : {std::pair{"batch", 7}, std::pair{"tokens", 7}, std::pair{"heads", 3}, std::pair{"model", 16}})
    CHECK(extents.at(dim) == extent);
}

TEST_CASE("of a code with several kernels that one is tuned which calls on the device take", "[tuning]") {
  Options options;
  options.graph.graph = "single_head";
  options.types = "bf16";
  options.targets = "cuda";
  const auto tuned_on = [&](std::string_view capability) {
    const TunePlan plan = make_plan({{prepare(options), "single_head", {"single_head"}, {}, {}, {"tokens=16,model=16,depth=8"}, {}}},
                                    *find_target("cuda"), RecordsFor::stages, capability);
    REQUIRE(plan.problem == "");
    std::set<std::string> schedules;
    for (const TuneTask& task : plan.tasks) schedules.insert(task.schedule);
    return schedules;
  };
  CHECK((tuned_on("compute capability 9.0").contains("wgmma_gemm") && !tuned_on("compute capability 9.0").contains("mma_gemm")));
  CHECK((tuned_on("compute capability 8.0").contains("mma_gemm") && !tuned_on("compute capability 8.0").contains("wgmma_gemm")));
}

TEST_CASE("defaults are tuned by calls of all graphs that take them, of every schedule and size that calls can take", "[tuning]") {
  for (const char* name : {"x86-64-v3", "zen5"}) {
    CAPTURE(name);
    const TargetInfo& target = *find_target(name);
    DefaultSet set = default_set(target, {});
    REQUIRE(set.problem == "");
    const TunePlan plan = make_plan(std::move(set.subjects), target, RecordsFor::defaults);
    REQUIRE(plan.problem == "");
    std::set<std::pair<std::string, SizeClass>> tuned;
    for (const TuneTask& task : plan.tasks) CHECK(tuned.emplace(task.schedule, task.size).second);
    for (const ScheduleInfo& info : all_schedules()) {
      if (!info.is_for(machine_of(target))) continue;
      CAPTURE(info.name);
      CHECK(tuned.contains({std::string(info.name), info.made_for.value_or(SizeClass::large)}));
      if (!info.made_for && std::ranges::find(info.limited, SizeClass::small) != info.limited.end())
        CHECK(tuned.contains({std::string(info.name), SizeClass::small}));
    }
    const TuneTask& attention = plan.tasks.front();
    CHECK(attention.title() == "online_softmax, large");
    CHECK(plan.subjects_of(attention).size() == (target.has_bf16_dot ? 5 : 4));
    CHECK(attention.keys.size() >= 3);  // dense, causal, window; of both depths
    CHECK(!attention.hints.empty());
    CHECK(attention.space.is_legal(attention.by_default));
    const auto with = [&](const std::vector<Parameter>& changed) {
      return attention.space.point(with_values(attention.space.values(attention.by_default), changed));
    };
    CHECK(!attention.space.is_legal(with({{"register_rows", {}, 12}, {"register_vectors", {}, 4}})));  // 53 registers
    const bool is_known = caches_of_this_cpu().l2 > 0;
    if (is_known && caches_of_this_cpu().l2 < 192 * 1024 * 4)
      CHECK(!attention.space.is_legal(with({{"query_tile", {}, 192}, {"key_tile", {}, 1024}})));
  }
}

TEST_CASE("a candidate that computes something else loses before it is timed", "[tuning]") {
  const Folder folder;
  const std::string right = kernel_of(folder, "causal"), wrong = kernel_of(folder, "scaled_dot_product");
  if (right.empty()) return skip("this CPU is none of the targets");
  const Graph graph = variant_graph("causal");
  Duel duel{{{right, right, wrong, "causal", {call_of(graph, {})}, {call_of(graph, {{"queries", 70}, {"keys", 70}})}}}, 1, {}};
  constexpr double limit_s = 120;
  const DuelAnswer by_interpreter = run_duel(duel, limit_s);
  CHECK(by_interpreter.problem.find("elements differ; worst at") != std::string::npos);
  CHECK(by_interpreter.pairs == 0);
  duel.kernels[0].checks.clear();
  duel.kernels[0].races[0].expected.clear();
  CHECK(run_duel(duel, limit_s).problem.find("elements differ; worst at") != std::string::npos);

  duel.kernels[0].candidate = right;
  const DuelAnswer same = run_duel(duel, limit_s);
  CHECK(same.problem == "");
  CHECK(same.verdict != Verdict::undecided);
  CHECK(same.pairs > 0);
  CHECK(same.races.size() == 1);
  duel.kernels.push_back(duel.kernels[0]);
  CHECK(run_duel(duel, limit_s).races.size() == 2);
  duel.kernels[1].candidate = wrong;
  CHECK(run_duel(duel, limit_s).problem.find("elements differ; worst at") != std::string::npos);
  duel.kernels[1].candidate = (folder / "none.so").string();
  CHECK(run_duel(duel, limit_s).problem.find("none.so") != std::string::npos);
}

}  // namespace attune
