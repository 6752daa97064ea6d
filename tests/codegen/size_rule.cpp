#include "codegen/steps/size_rule.h"

#include <catch2/catch.hpp>

#include "codegen/output/code_generators.h"
#include "tests/codegen/planned.h"
#include "tests/variant_graph.h"

namespace attune {
namespace {

const TargetInfo& cpu() { return *find_target("x86-64-v3"); }

/// Few queries and keys, few queries of many keys, small calls, and all others. The first two have schedules of their own, or there is none for them.
std::map<SizeClass, StepSchedule> attention(bool has_few = true, bool has_tiny = false) {
  std::map<SizeClass, StepSchedule> schedules;
  schedules[SizeClass::tiny].limits = std::vector<ExtentLimit>{{"queries", 0, 32}, {"keys", 0, 32}};
  schedules[SizeClass::tiny].is_made_for_size = has_tiny;
  schedules[SizeClass::shared].limits = std::nullopt;  // no heads share their keys
  schedules[SizeClass::few].limits = std::vector<ExtentLimit>{{"queries", 0, 4}, {"keys", 65}};
  schedules[SizeClass::few].is_made_for_size = has_few;
  schedules[SizeClass::small].limits = std::vector<ExtentLimit>{{"queries", 0, 16}};
  schedules[SizeClass::large] = {};
  return schedules;
}

std::string text_of(const SizeRule& rule) {
  std::string text;
  for (const SizeRule::Entry& entry : rule.entries) {
    text += (text.empty() ? "" : "; ") + std::string(name_of(entry.size));
    for (const ExtentLimit& limit : entry.limits) text += " " + limit.dim;
  }
  return text;
}

}  // namespace

TEST_CASE("a call takes the first schedules whose limits hold", "[size]") {
  const SizeRule rule = size_rule(attention(), {});
  CHECK(text_of(rule) == "few queries keys; small queries; large");
  const auto size = [&](std::int64_t queries, std::int64_t keys) { return rule.size_of({{"queries", queries}, {"keys", keys}}); };
  CHECK(size(1, 65) == SizeClass::few);
  CHECK(size(4, 4096) == SizeClass::few);
  CHECK(size(4, 64) == SizeClass::small);
  CHECK(size(5, 4096) == SizeClass::small);
  CHECK(size(16, 1) == SizeClass::small);
  CHECK(size(17, 4096) == SizeClass::large);
  CHECK(size(0, 0) == SizeClass::small);
}

TEST_CASE("known extents leave out what no call can take", "[size]") {
  CHECK(text_of(size_rule(attention(), {{"queries", 1}})) == "few keys; small");
  CHECK(text_of(size_rule(attention(), {{"queries", 1}, {"keys", 4096}})) == "few");
  CHECK(text_of(size_rule(attention(), {{"queries", 8}})) == "small");
  CHECK(text_of(size_rule(attention(), {{"queries", 17}})) == "large");
  CHECK(text_of(size_rule(attention(), {{"keys", 64}})) == "small queries; large");
}

TEST_CASE("limits of a schedule hold together, and one without any does not mind", "[size]") {
  std::map<SizeClass, StepSchedule> schedules = attention(false);
  CHECK(text_of(size_rule(schedules, {})) == "small queries; large");
  schedules[SizeClass::small].limits->push_back({"queries", 0, 7});
  schedules[SizeClass::small].limits->push_back({"tokens", 0, 9});
  const SizeRule rule = size_rule(schedules, {});
  CHECK(text_of(rule) == "small queries tokens; large");
  CHECK(rule.size_of({{"queries", 7}, {"tokens", 9}}) == SizeClass::small);
  CHECK(rule.size_of({{"queries", 8}, {"tokens", 9}}) == SizeClass::large);
  schedules[SizeClass::small].limits.reset();
  CHECK(text_of(size_rule(schedules, {})) == "large");
  schedules[SizeClass::small].limits.emplace();  // all calls are small, as those of a matrix times a vector
  CHECK(text_of(size_rule(schedules, {})) == "small");
}

TEST_CASE("tiny calls come before all others", "[size]") {
  const SizeRule rule = size_rule(attention(true, true), {});
  CHECK(text_of(rule) == "tiny queries keys; few queries keys; small queries; large");
  const auto size = [&](std::int64_t queries, std::int64_t keys) { return rule.size_of({{"queries", queries}, {"keys", keys}}); };
  CHECK(size(1, 1) == SizeClass::tiny);
  CHECK(size(32, 32) == SizeClass::tiny);
  CHECK(size(1, 33) == SizeClass::small);
  CHECK(size(33, 1) == SizeClass::large);
  CHECK(text_of(size_rule(attention(true, true), {{"queries", 8}})) == "tiny keys; small");
  CHECK(text_of(size_rule(attention(true, true), {{"queries", 8}, {"keys", 8}})) == "tiny");
  CHECK(text_of(size_rule(attention(true, true), {{"keys", 33}})) == "small queries; large");
}

TEST_CASE("keys of the queries' own sequence limit calls by its name", "[size]") {
  const Planned planned(variant_graph("multi_head"));
  const KernelSteps& plan = planned.plan;
  REQUIRE(plan.steps.size() == 5);
  const auto rule = [&](std::size_t step) {
    const StepSchedules schedules = schedules_of(plan, plan.steps[step], cpu(), {});
    REQUIRE(schedules.problem == "");
    return text_of(schedules.rule);
  };
  CHECK(rule(3) == "tiny tokens; large");
  // each stage for itself
  CHECK(rule(0) == "small batch tokens; large");
}

TEST_CASE("few queries of many heads that share keys come before few queries", "[size]") {
  const auto rule = [](std::string_view variant, const KnownExtents& known) {
    StageOptions options;
    options.specialisation.extents = known;
    const Planned planned(variant_graph(variant), options);
    return schedules_of(planned.plan, planned.plan.steps.at(0), cpu(), {}).rule;
  };
  const SizeRule grouped = rule("grouped_query", {});
  CHECK(text_of(grouped) == "tiny queries keys; shared queries keys group; few queries keys; small queries; large");
  CHECK(grouped.size_of({{"queries", 1}, {"keys", 4096}, {"group", 32}}) == SizeClass::shared);
  CHECK(grouped.size_of({{"queries", 1}, {"keys", 4096}, {"group", 8}}) == SizeClass::few);
  CHECK(text_of(rule("grouped_query", {{"group", 8}})) == "tiny queries keys; few queries keys; small queries; large");
  CHECK(!rule("causal", {}).has(SizeClass::shared));
}

TEST_CASE("a record may choose another schedule than the default of a size", "[size]") {
  const Planned planned(variant_graph("causal"));
  const KernelSteps& plan = planned.plan;
  const Step& step = plan.steps.at(0);
  const StepSchedules by_default = schedules_of(plan, step, cpu(), {});
  REQUIRE(by_default.of.at(SizeClass::few).name == "split_keys");
  ScheduleChoice choice;
  TunedFile& file = choice.tuned.emplace_back();
  file.name = "mine.json";
  file.target = cpu().name;
  insert(file,
         {"online_softmax", SizeClass::few, step.key.stage, step.key.types, step.key.extents, by_default.of.at(SizeClass::small).parameters, 3, {}},
         step.key.body);
  const StepSchedules recorded = schedules_of(plan, step, cpu(), choice);
  CHECK(recorded.of.at(SizeClass::few).name == "online_softmax");
  CHECK(recorded.of.at(SizeClass::few).origin == "tuned: exact");
  CHECK(text_of(recorded.rule) == "tiny queries keys; few queries keys; small queries; large");
  CHECK(recorded.rule.size_of({{"queries", 3}, {"keys", 700}}) == SizeClass::few);
  CHECK(recorded.rule.size_of({{"queries", 4}, {"keys", 700}}) != SizeClass::few);
  CHECK(recorded.of.at(SizeClass::tiny).name == "whole_rows");
  choice.name = "split_keys";
  CHECK(schedules_of(plan, step, cpu(), choice).of.at(SizeClass::few).name == "split_keys");
}

TEST_CASE("a size is left out if no extent keeps its limits", "[size]") {
  std::map<SizeClass, StepSchedule> schedules = attention();
  schedules[SizeClass::few].limits = std::vector<ExtentLimit>{{"tokens", 0, 4}, {"tokens", 65}};
  CHECK(text_of(size_rule(schedules, {})) == "small queries; large");
}

TEST_CASE("a size is left out if an earlier one takes all its calls", "[size]") {
  std::map<SizeClass, StepSchedule> schedules = attention(true, true);
  schedules[SizeClass::small].limits->push_back({"keys", 0, 32});
  CHECK(text_of(size_rule(schedules, {})) == "tiny queries keys; few queries keys; large");
  CHECK(text_of(size_rule(attention(true, true), {{"keys", 8}})) == "tiny queries; large");
}

TEST_CASE("all calls may take the schedules for one size", "[size]") {
  SizeRule rule = size_rule(attention(true, true), {{"queries", 8}});
  CHECK(!rule.keep_only(SizeClass::few));
  CHECK(text_of(rule) == "tiny keys; small");
  CHECK(rule.keep_only(SizeClass::tiny));
  CHECK(text_of(rule) == "tiny");
}

TEST_CASE("devices tell apart the calls that a schedule of theirs is made for", "[size]") {
  const auto rules = [](const char* variant) {
    const Planned planned(variant_graph(variant));
    std::string text;
    for (const Step& step : planned.plan.steps) text += text_of(schedules_of(planned.plan, step, *find_target("cuda"), {}).rule) + ".";
    return text;
  };
  CHECK(rules("grouped_query") == "few queries keys; large.");
  CHECK(rules("multi_head") == "large.large.large.large.large.");  // its queries are as many as its keys
}

}  // namespace attune
