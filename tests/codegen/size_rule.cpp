#include "codegen/size_rule.h"

#include <catch2/catch.hpp>

#include "codegen/pipeline.h"

namespace attune {
namespace {

const TargetInfo& cpu() { return *find_target("x86-64-v3"); }

/// Few queries of many keys, small calls, and all others.
Pipelines attention(bool has_few = true) {
  Pipelines pipelines;
  pipelines.of[SizeClass::few].limits = {{"queries", 0, 4}, {"keys", 65}};
  pipelines.of[SizeClass::few].is_for_few = has_few;
  pipelines.of[SizeClass::small].limits = {{"queries", 0, 16}};
  pipelines.of[SizeClass::large] = {};
  return pipelines;
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
  const SizeRule rule = size_rule(attention(), {}, cpu());
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
  CHECK(text_of(size_rule(attention(), {{"queries", 1}}, cpu())) == "few keys; small");
  CHECK(text_of(size_rule(attention(), {{"queries", 1}, {"keys", 4096}}, cpu())) == "few");
  CHECK(text_of(size_rule(attention(), {{"queries", 8}}, cpu())) == "small");
  CHECK(text_of(size_rule(attention(), {{"queries", 17}}, cpu())) == "large");
  CHECK(text_of(size_rule(attention(), {{"keys", 64}}, cpu())) == "small queries; large");
}

TEST_CASE("limits of several stages hold together, and stages without any do not mind", "[size]") {
  Pipelines pipelines = attention(false);
  CHECK(text_of(size_rule(pipelines, {}, cpu())) == "small queries; large");
  pipelines.of[SizeClass::small].limits.push_back({"queries", 0, 7});
  pipelines.of[SizeClass::small].limits.push_back({"tokens", 0, 9});
  const SizeRule rule = size_rule(pipelines, {}, cpu());
  CHECK(text_of(rule) == "small queries tokens; large");
  CHECK(rule.size_of({{"queries", 7}, {"tokens", 9}}) == SizeClass::small);
  CHECK(rule.size_of({{"queries", 8}, {"tokens", 9}}) == SizeClass::large);
  pipelines.of[SizeClass::small].limits.clear();
  CHECK(text_of(size_rule(pipelines, {}, cpu())) == "large");
}

TEST_CASE("a kernel for a GPU has one schedule", "[size]") {
  CHECK(text_of(size_rule(attention(), {}, *find_target("opencl"))) == "large");
}

}  // namespace attune
