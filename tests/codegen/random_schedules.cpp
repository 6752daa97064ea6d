/// Schedules drawn at random, with any legal values of their parameters, for any size of call: none may change a result.
#include <catch2/catch.hpp>

#include <random>
#include <set>

#include "codegen/targets/targets.h"
#include "tests/codegen/kernel_case.h"
#include "tests/skip.h"

namespace attune {
namespace {

/// A variant with stages of a kind, or one of `small_graph` where it has no name.
struct Subject {
  std::string_view stage, variant = {};
  std::vector<std::string> settings = {};
};

const std::vector<Subject> subjects = {
    {"online_softmax", "causal"},        {"online_softmax", "sliding_window", {"window=9"}}, {"online_softmax", "padded"},
    {"online_softmax", "grouped_query"}, {"online_softmax", "additive"},                     {"gemm"},
    {"row_softmax"},                     {"pointwise"},                                     {"recurrence", "recurrent_attention"},
};

/// One stage of the kind, and nothing else.
Graph small_graph(std::string_view stage) {
  Graph g;
  const Dim batch = g.dim("batch"), queries = g.dim("queries"), keys = g.dim("keys"), depth = g.dim("depth");
  if (stage == "gemm")
    g.output("out", matmul(g.input("a", {batch, queries, depth}), g.input("b", {keys, depth}), depth), {batch, queries, keys});
  else if (stage == "row_softmax")
    g.output("out", softmax(g.input("x", {batch, queries, keys}), keys), {batch, queries, keys});
  else
    g.output("out", tanh(g.input("x", {batch, queries, keys}) + g.input("y", {keys})), {queries, batch, keys});
  g.finish();
  return g;
}

/// The same draws for the same seed, on every machine.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  template <class Items>
  const auto& of(const Items& items) {
    return *(std::begin(items) + static_cast<std::ptrdiff_t>(random_() % std::size(items)));
  }

 private:
  std::mt19937_64 random_;
};

/// A schedule for CPUs as --schedule takes it: legal values of all its parameters.
std::string schedule_text(Draw& draw, const ScheduleInfo& info, const Machine& machine, SizeClass size) {
  const std::vector<Parameter> declared = info.parameters(machine, size);
  std::vector<Parameter> values;
  do {
    values = declared;
    for (Parameter& parameter : values) parameter.value = draw.of(parameter.legal);
  } while (info.problem != nullptr && !info.problem(machine, values).empty());
  std::string text = std::string(info.name) + ",size=" + std::string(name_of(size));
  for (const Parameter& parameter : values) text += "," + parameter.name + "=" + std::to_string(parameter.value);
  return text;
}

/// Extents of the dims that follow from no others: rows and columns around vectors and tiles, few batch indices.
std::string shape_text(Draw& draw, const Graph& graph) {
  std::string text;
  for (const DimInfo& info : graph.dim_infos()) {
    if (info.derivation.formula != Formula::free) continue;
    const std::string_view name = info.name();
    const bool is_long = name == "queries" || name == "keys" || name == "tokens" || name == "memory_tokens";
    const bool is_outer = name == "batch" || name == "heads" || name == "group";
    const std::vector<int> extents = is_long ? std::vector{1, 3, 37, 130, 301} : is_outer ? std::vector{1, 2} : std::vector{5, 16, 33, 64};
    text += (text.empty() ? "" : ",") + std::string(name) + "=" + std::to_string(draw.of(extents));
  }
  return text;
}

using Targets = std::vector<const TargetInfo*>;

Targets usable_targets() {
  Targets usable;
  for (const TargetInfo& target : targets())
    if (target.device == Device::cpu && runs_here(target)) usable.push_back(&target);
  return usable;
}

/// Those of the targets that the schedule is for.
Targets with(const ScheduleInfo& info, Targets usable) {
  std::erase_if(usable, [&](const TargetInfo* target) { return !info.is_for(machine_of(*target)); });
  return usable;
}

/// What this machine can run: a schedule for registers that few CPUs have (tests/codegen/matrix_tiles.cpp) is tried where they are.
std::vector<ScheduleInfo> schedules_here() {
  std::vector<ScheduleInfo> here = all_schedules();
  std::erase_if(here, [](const ScheduleInfo& info) { return with(info, usable_targets()).empty(); });
  return here;
}

/// Checks the seed's kernel, which has the schedule of index `seed` (modulo their number); the schedule's name.
std::string_view check_seed(std::uint64_t seed) {
  Draw draw(seed);
  const std::vector<ScheduleInfo> here = schedules_here();
  const ScheduleInfo& info = here[seed % here.size()];
  std::vector<Subject> fitting;
  for (const Subject& subject : subjects)
    if (subject.stage == info.stage) fitting.push_back(subject);
  REQUIRE(!fitting.empty());
  const Subject& subject = draw.of(fitting);
  const TargetInfo& target = *draw.of(with(info, usable_targets()));
  const std::string types = draw.of(std::array{"f32", "bf16"});
  const std::string schedule = schedule_text(draw, info, machine_of(target), draw.of(size_classes));
  INFO("seed " << seed << ": " << subject.stage << " of " << subject.variant << " for " << target.name << " in " << types << " by " << schedule);
  const KernelOptions options{.settings = subject.settings, .target = std::string(target.name), .types = types, .schedule = schedule};
  const Graph graph = small_graph(subject.stage);
  const KernelCase kernel = subject.variant.empty() ? KernelCase(graph, "small", options) : KernelCase(std::string(subject.variant), options);
  for (int shape = 0; shape < 3; ++shape) CHECK(kernel.difference(shape_text(draw, kernel.graph()), seed) == "");
  return info.name;
}

/// Checks the seeds, among which every schedule for this CPU must come.
void check_seeds(std::uint64_t first, std::uint64_t count) {
  if (schedules_here().empty()) return skip("this CPU is none of the targets");
  std::set<std::string_view> drawn, all;
  for (const ScheduleInfo& info : schedules_here()) all.insert(info.name);
  for (std::uint64_t seed = first; seed < first + count; ++seed) drawn.insert(check_seed(seed));
  CHECK(drawn == all);
}

}  // namespace

TEST_CASE("every schedule with parameters drawn at random agrees with the interpreter", "[property]") {
  check_seeds(0, schedules_here().size());
}

TEST_CASE("every schedule with many parameters drawn at random agrees with the interpreter", "[.full]") {
  check_seeds(100, 200);
}

}  // namespace attune
